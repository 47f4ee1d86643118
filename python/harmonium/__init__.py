"""Boltzmann machines with scikit-learn's manners.

>>> import harmonium
>>> X, y = harmonium.load_digits()
>>> rbm = harmonium.RBM(n_components=16, updates=200, random_state=0).fit(X)
>>> rbm.transform(X[:3]).shape
(3, 16)
>>> rbm.log_likelihood(X[:100]).kind
'exact'

Estimators: RBM, ClassificationRBM, DBN (deep belief net), DBM (deep Boltzmann machine). Their parameters are the
options of the tool `harmonium train`, by the same names and with the same defaults.
"""

from . import _core
from ._core import RunFailure, get_num_threads, set_num_threads
from ._data import load_digits
from ._deep import DBM, DBN
from ._estimate import Estimate
from ._rbm import RBM
from ._classification import ClassificationRBM
from .importers import load
from . import plots

__version__ = _core.__version__
__all__ = [
    "RBM",
    "ClassificationRBM",
    "DBN",
    "DBM",
    "Estimate",
    "RunFailure",
    "load",
    "load_digits",
    "plots",
    "get_num_threads",
    "set_num_threads",
]
