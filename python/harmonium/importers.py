"""Models of files: ours, and RBMs as other packages keep them."""

import os

import numpy as np

from . import _core
from ._classification import ClassificationRBM
from ._deep import DBM, DBN
from ._rbm import RBM

_ESTIMATORS = {each._model: each for each in (RBM, ClassificationRBM, DBN, DBM)}

# How packages call them: weights, visible biases, hidden biases, and whether weights are hidden × visible units.
LAYOUTS = {
    "harmonium": ("W", "visible_bias", "hidden_bias", False),
    "scikit-learn attributes": ("components_", "intercept_visible_", "intercept_hidden_", True),
    "Hinton & Salakhutdinov": ("vishid", "visbiases", "hidbiases", False),
    "Hinton & Salakhutdinov, pretraining": ("vishid", "visbiases", "hidrecbiases", False),
    "Theano tutorial": ("W", "vbias", "hbias", False),
    "PyTorch, hidden first": ("W", "v_bias", "h_bias", True),
    "learnergy": ("W", "a", "b", False),
    "DeepLearnToolbox": ("W", "b", "c", True),
}


def load(path):
    """An estimator of a file: a run folder, .safetensors, or an RBM of another package in .npz or .mat.

    >>> import numpy as np, os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "theirs.npz")
    >>> np.savez(file, vishid=np.zeros((6, 4)), visbiases=np.zeros((1, 6)), hidbiases=np.zeros((1, 4)))
    >>> load(file).components_.shape
    (4, 6)
    """
    path = os.fspath(path)
    if path.endswith((".npz", ".mat")):
        return RBM.from_arrays(*find_arrays(_read(path), path))
    model = _core.Model.load(path)
    if model.kind not in _ESTIMATORS:
        raise ValueError(f"{path}: there is no estimator for models of kind '{model.kind}'; the tool can use them")
    return _ESTIMATORS[model.kind]._of(model, path)


def find_arrays(arrays, where="arrays"):
    """W (visible × hidden), visible and hidden biases among named arrays, by the layouts that are known."""
    for weights, visible, hidden, hidden_first in LAYOUTS.values():
        if not all(name in arrays for name in (weights, visible, hidden)):
            continue
        W, a, b = np.asarray(arrays[weights]), np.ravel(arrays[visible]), np.ravel(arrays[hidden])
        if W.ndim != 2:
            raise ValueError(f"{where}: {weights} has {W.ndim} dimensions, not 2")
        # Where the numbers of units tell, they are believed: people transpose.
        if W.shape == (len(b), len(a)) and (len(a) != len(b) or hidden_first):
            W = W.T
        if W.shape != (len(a), len(b)):
            raise ValueError(
                f"{where}: {weights} is {W.shape[0]} × {W.shape[1]}, but there are {len(a)} visible biases ({visible}) "
                f"and {len(b)} hidden ones ({hidden})"
            )
        return W, a, b
    known = "; ".join(", ".join(layout[:3]) for layout in LAYOUTS.values())
    raise ValueError(f"{where}: no layout fits the arrays {', '.join(sorted(arrays))}. Known are: {known}")


def _read(path):
    if not os.path.exists(path):
        raise ValueError(f"{path}: there is no such file")
    if path.endswith(".npz"):
        try:
            with np.load(path, allow_pickle=False) as file:
                return dict(file)
        except MemoryError:
            raise
        except Exception as error:  # whatever numpy, zipfile and zlib think of a damaged file
            raise ValueError(f"{path}: not an NPZ file that can be read ({error})") from None
    arrays = {name: array.numpy() for name, array in _core.mat_arrays(path).items()}
    for name in list(arrays):  # a field of a struct, as DeepLearnToolbox keeps it
        arrays.setdefault(name.rpartition(".")[2], arrays[name])
    return arrays
