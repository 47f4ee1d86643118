"""The digits that come with the library."""

from . import _core


def load_digits(part="train"):
    """The library's own digits (8×8 gray values in [0, 1]) and their labels.

    Parameters
    ----------
    part : "train" (1297 rows), "valid" (200), "test" (300) or "all"

    >>> X, y = load_digits("test")
    >>> X.shape, str(X.dtype), float(X.max())
    ((300, 64), 'float32', 1.0)
    """
    rows, labels = _core.load_dataset(f"digits:{part}")
    return rows.numpy(), labels.numpy()
