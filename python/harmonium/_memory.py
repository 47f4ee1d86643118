"""What an estimator knows beside its model, as notes in the model's file: classes, names, parameters, history."""

import json
import os

import numpy as np

from ._parameters import RENAMED

_NOTE, _CLASSES = "python", "classes"


def _plain(value):
    """A value as JSON has it; raises TypeError for what it cannot have."""
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, (tuple, list, np.ndarray)):
        return [_plain(each) for each in value]
    raise TypeError(type(value).__name__)


def _tuples(value):
    """Lists are tuples in parameters: layers, image_shape."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def notes_of(estimator):
    """What `save` writes beside the model."""
    parameters = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            parameters[name] = _plain(value)
        except TypeError:
            pass  # a random generator has no text; its default takes its place
    known = {
        "parameters": parameters,
        "gray_bytes": estimator.gray_bytes_,
        "updates": estimator.n_updates_,
        "history": [dict(line) for line in estimator.history_],
    }
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        known["feature_names"] = [str(each) for each in names]
    notes = {}
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        try:
            notes[_CLASSES] = json.dumps(_plain(classes), ensure_ascii=False)
        except TypeError as error:
            raise ValueError(
                f"save: classes_ holds values of type {error}, and a file keeps numbers and text; pickle keeps all"
            ) from None
        known["classes_type"] = classes.dtype.str if classes.dtype != object else "object"
    notes[_NOTE] = json.dumps(known, ensure_ascii=False)
    notes["updates"] = str(estimator.n_updates_)
    return notes


def recall(estimator, notes, where):
    """Gives a loaded estimator back what notes_of has kept; says False where nothing was."""
    if _NOTE not in notes:
        return False
    try:
        _recall(estimator, notes, json.loads(notes[_NOTE]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{where}: what the file says of its estimator is damaged ({error})") from None
    return True


def _recall(estimator, notes, known):
    allowed = estimator.get_params(deep=False)
    estimator.set_params(**{name: _tuples(value) for name, value in known["parameters"].items() if name in allowed})
    estimator.gray_bytes_ = known.get("gray_bytes")
    estimator.n_updates_ = int(known.get("updates", estimator.n_updates_))
    estimator.history_ = known.get("history", [])
    if "feature_names" in known:
        estimator.feature_names_in_ = np.array(known["feature_names"], dtype=object)
    if _CLASSES in notes:
        classes = np.array(json.loads(notes[_CLASSES]), dtype=np.dtype(known["classes_type"]))
        if classes.shape != (estimator.model_.classes,):
            raise ValueError(f"{len(classes)} classes for a label of {estimator.model_.classes}")
        estimator.classes_ = classes


def recall_structure(estimator, model):
    """Numbers and types of units, where nothing else is known of the parameters."""
    visible, *hidden = model.units
    plain = [int(each.split(":")[1]) if each.startswith("bernoulli:") else each for each in hidden]
    allowed = estimator.get_params(deep=False)
    found = {"layers": tuple(plain)} if "layers" in allowed else {"n_components": plain[0]}
    kind = visible.split(":")[0]
    if kind != "bernoulli":
        found["visible"] = kind if kind != "softmax" else visible
    if model.image is not None:
        found["image_shape"] = tuple(model.image)
    estimator.set_params(**found)


def recall_run(estimator, folder):
    """Options and measurements of a run folder of the tool."""
    config, metrics = (os.path.join(folder, name) for name in ("config.toml", "metrics.jsonl"))
    allowed = estimator.get_params(deep=False)
    if os.path.exists(config):
        with open(config, encoding="utf-8") as file:
            for line in file:  # a flat list of options, whose values JSON reads as well
                name, equals, value = line.partition(" = ")
                name = RENAMED.get(name, name)
                if not equals or name not in allowed or name in ("n_components", "layers", "visible"):
                    continue
                try:
                    estimator.set_params(**{name: json.loads(value)})
                except ValueError:
                    pass  # a number that JSON has no text for
    if os.path.exists(metrics):
        with open(metrics, encoding="utf-8") as file:
            estimator.history_ = [json.loads(line) for line in file if line.strip()]
