"""What people call data: numpy arrays, lists, data frames, sparse matrices, torch tensors."""

import sys

import numpy as np
import scipy.sparse as sparse

from . import _core

# Types that pass without a copy; everything else becomes the first of them.
PASSED = (np.float64, np.float32, np.uint8, np.bool_)


def is_torch(X):
    """Whether X is a torch tensor. Does not import torch: who has none has no tensors."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def from_torch(X):
    """The numbers of a torch tensor as an array: shared where it is on the CPU, copied from a device."""
    X = X.detach()
    if X.device.type != "cpu":
        X = X.cpu()
    return X.numpy()


def like(X, result):
    """`result` as X came: a torch tensor on the same device for a torch tensor, else as it is."""
    if not is_torch(X):
        return result
    torch = sys.modules["torch"]
    return torch.from_numpy(np.ascontiguousarray(result)).to(X.device)


def refuse_other_kinds(X):
    """Fails for values that numpy would take for numbers although they mean something else."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise ValueError(
            f"X has {int(np.ma.getmaskarray(X).sum())} masked values; fill them (X.filled(0)) or leave their rows out"
        )
    kinds = {np.dtype(each).kind for each in [getattr(X, "dtype", None)] if isinstance(each, np.dtype)}
    kinds |= {each.kind for each in getattr(X, "dtypes", ()) if isinstance(each, np.dtype)}  # of a data frame
    if kinds & set("mM"):
        raise ValueError("X holds dates or durations, which are not numbers; make numbers of them first")


def dense(X):
    """A sparse matrix as an array, of bool where it holds bits."""
    if not sparse.issparse(X):
        return X
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    bits = np.isin(X.data, (0, 1)).all()
    return X.astype(bool).toarray() if bits else X.toarray()


def table(X):
    """An array as the engine takes it; shares memory where the type allows."""
    X = np.asarray(X)
    if X.dtype.type not in PASSED and X.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        X = X.astype(np.float64)
    return _core.Table(X)


def is_gray(X):
    """Whether bytes are gray values 0 … 255 and not bits; None for other types."""
    return bool(X.size > 0 and X.max() > 1) if X.dtype == np.uint8 else None


def out_dtype(X):
    """What an answer about X has: float32 for float32 and bytes, else float64."""
    kept = ("float32", "uint8", "bool")
    return np.float32 if str(getattr(X, "dtype", None)).replace("torch.", "") in kept else np.float64
