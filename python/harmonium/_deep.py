from ._rbm import RBM as DBM
from ._rbm import RBM as DBN
