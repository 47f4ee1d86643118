from ._rbm import RBM as ClassificationRBM
