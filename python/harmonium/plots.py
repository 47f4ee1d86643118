"""Pictures: arrays always, figures where matplotlib is there."""

import importlib.util
import io
import math

import numpy as np


def _can_draw():
    return importlib.util.find_spec("matplotlib") is not None


def _new_figure(**arguments):
    """A figure that a notebook shows as what it is, whether or not pyplot has been set up there.

    matplotlib is imported here, for those who draw.
    """
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self):
            file = io.BytesIO()
            self.savefig(file, format="png", bbox_inches="tight")
            return file.getvalue()

    return Picture(**arguments)


def _shape(width, shape):
    if shape is not None:
        if shape[0] * shape[1] != width:
            raise ValueError(f"{width} values are no picture of {shape[0]} × {shape[1]}")
        return tuple(shape)
    side = math.isqrt(width)
    if side * side == width:
        return side, side
    raise ValueError(f"{width} values are no square; give shape=(height, width)")


def tile(rows, shape=None, columns=None, gap=1, fill=np.nan):
    """Rows as pictures side by side in one array.

    >>> tile(np.zeros((6, 16)), columns=3).shape
    (9, 14)
    """
    rows = np.asarray(rows, dtype=float)
    height, width = _shape(rows.shape[1], shape)
    columns = columns or math.ceil(math.sqrt(len(rows)))
    lines = math.ceil(len(rows) / columns)
    result = np.full((lines * (height + gap) - gap, columns * (width + gap) - gap), fill)
    for i, row in enumerate(rows):
        top, left = i // columns * (height + gap), i % columns * (width + gap)
        result[top : top + height, left : left + width] = row.reshape(height, width)
    return result


def _figure(picture, title, signed, axes):
    if axes is None:
        if not _can_draw():
            return picture
        axes = _new_figure(figsize=(6, 6 * picture.shape[0] / picture.shape[1] + 0.4)).subplots()
    limit = np.nanmax(np.abs(picture)) if signed else None
    axes.imshow(picture, cmap="RdBu_r" if signed else "gray", vmin=-limit if signed else 0, vmax=limit if signed else 1)
    axes.set_axis_off()
    axes.set_title(title)
    return axes.figure


def filters(model, n=64, shape=None, as_array=False, ax=None):
    """Weights of the lowest hidden units, as pictures: those with the largest norms first.

    Returns a matplotlib figure (that of `ax`, axes to draw on, where they are given), or an array where there is no
    matplotlib or as_array is true.
    """
    weights = model.components_
    order = np.argsort(-np.linalg.norm(weights, axis=1), kind="stable")[:n]
    picture = tile(weights[order], shape or getattr(model, "image_shape", None) or model.model_.image)
    return picture if as_array else _figure(picture, f"{len(order)} of {len(weights)} hidden units", True, ax)


def samples(model, n=64, shape=None, as_array=False, ax=None, **options):
    """What the model draws (means of the last sweep, unless told otherwise); `ax` as of filters, options as of `sample`."""
    options.setdefault("means", True)
    drawn = model.sample(n, **options)
    picture = tile(drawn, shape or getattr(model, "image_shape", None) or model.model_.image)
    return picture if as_array else _figure(picture, f"{n} samples", False, ax)


def curves(model, as_array=False):
    """What was measured while fitting (monitor=True): a figure, or a dict of arrays by name."""
    history = getattr(model, "history_", [])
    if not history:
        raise ValueError("nothing was measured; fit with monitor=True")
    names = [name for name in history[-1] if name not in ("update", "seconds", "epoch")]
    found = {name: np.array([line.get(name, np.nan) for line in history]) for name in ["update", *names]}
    if as_array or not _can_draw():
        return found
    figure = _new_figure(figsize=(6, 2 * len(names)))
    for axes, name in zip(np.ravel(figure.subplots(len(names), 1, sharex=True)), names):
        axes.plot(found["update"], found[name])
        axes.set_ylabel(name.replace("_", " "))
    axes.set_xlabel("update")
    return figure
