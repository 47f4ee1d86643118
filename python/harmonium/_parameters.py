"""Parameters of the estimators, made from the options of the library: names, defaults and help are written there."""

import inspect
import re
import textwrap

from . import _core

_OPTIONS = {name: (default, help_text) for name, default, help_text in _core.run_options()}

# Options by the names that scikit-learn has for them.
RENAMED = {"hidden": "n_components", "batch": "batch_size", "seed": "random_state"}

# Options of runs in a folder, of data in files, and of nets: not for estimators.
_NOT_HERE = {
    "data", "valid", "limit", "label_column", "scale", "shape", "transpose", "first_label", "first_category", "sequences", "model", "activation", "code", "start", "loss", "dropout",
    "dropout_inputs", "patience", "checkpoint_every", "checkpoint_minutes", "snapshots", "track", "track_chains",
    "track_betas", "labels",
}  # fmt: skip

_SKLEARN_BATCH = 10  # of BernoulliRBM

# Parameters that are Python's own: name, default, help.
_OWN = [
    ("learning_rate", None, "rate_weights and rate_bias in one. Where it is given and optimizer is auto, that is "
     "centering, whose rates mean what those of BernoulliRBM mean; None: the optimizer's own rates"),
    ("n_iter", None, "passes over the data, in place of updates; None: as many as updates are"),
    ("image_shape", None, "(height, width) of rows that are pictures, kept with the model; None: unknown"),
    ("monitor", False, "whether to measure every log_every updates; lines are in history_"),
    ("n_threads", None, "processor threads; None: see set_num_threads"),
    ("verbose", 0, "whether to show how far it is: a bar on a terminal and in notebooks, lines elsewhere"),
]  # fmt: skip


def _here(help_text):
    return re.sub(r"--([a-z][a-z-]*)", lambda m: RENAMED.get(m[1], m[1].replace("-", "_")), help_text)


def default_of(option):
    """The library's default of an option."""
    default = _OPTIONS[option][0]
    return int(default) if isinstance(default, str) and default.isdigit() else default


def make_parameters(without, extra=()):
    """(name, default, help) of an estimator's parameters; `extra` come first."""
    own = {name: (name, default, help_text) for name, default, help_text in _OWN}
    given = [
        (RENAMED.get(name, name), None if name == "seed" else default_of(name), _here(help_text))
        for name, (default, help_text) in _OPTIONS.items()
        if name not in _NOT_HERE and name not in without
    ]
    first = ["n_components", "layers", "learning_rate", "batch_size", "n_iter", "updates"]
    named = {each[0]: each for each in given}
    named["batch_size"] = (
        "batch_size",
        None,
        f"{named['batch_size'][2]}; None: {_SKLEARN_BATCH} where n_iter or learning_rate is given, as BernoulliRBM has "
        f"it, else {default_of('batch')}",
    )
    named.update(own)
    named.update({each[0]: each for each in extra})
    order = [name for name in first if name in named]
    order += [name for name in named if name not in order and name not in ("verbose", "random_state")]
    return [named[name] for name in order + ["verbose", "random_state"]]


def _document(parameters):
    lines = ["Parameters", "----------"]
    for name, default, help_text in parameters:
        lines.append(f"{name} : default={default!r}")
        lines += textwrap.wrap(help_text, 110, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def with_parameters(*, without=(), extra=()):
    """A class decorator: gives an estimator its __init__ and puts its parameters into the docstring."""
    parameters = make_parameters(set(without), extra)

    def decorate(cls):
        kinds = inspect.Parameter
        signature = inspect.Signature(
            [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
            + [
                kinds(name, kinds.POSITIONAL_OR_KEYWORD if i == 0 else kinds.KEYWORD_ONLY, default=default)
                for i, (name, default, _) in enumerate(parameters)
            ]
        )

        def __init__(self, *args, **kwargs):
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{type(self).__name__}: {error}") from None
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = __init__
        cls._parameters = parameters
        cls.__doc__ = inspect.cleandoc(cls.__doc__).replace("{parameters}", _document(parameters))
        return cls

    return decorate


def options_of(estimator):
    """The library's options that an estimator's parameters stand for; no seed."""
    names = {python: option for option, python in RENAMED.items()}
    own = {name for name, _, _ in _OWN}
    options = {}
    for name, _, _ in estimator._parameters:
        if name in own or name == "random_state":
            continue
        value = getattr(estimator, name)
        if name == "layers" and not isinstance(value, str):
            try:
                value = ",".join(str(each) for each in value)
            except TypeError:
                raise TypeError(f"layers must be a list of numbers of units, not {value!r}") from None
        options[names.get(name, name)] = value
    if options["batch"] is None:
        theirs = estimator.n_iter is not None or estimator.learning_rate is not None
        options["batch"] = _SKLEARN_BATCH if theirs else default_of("batch")
    if estimator.learning_rate is not None:
        options["rate_weights"] = options["rate_bias"] = estimator.learning_rate
        if options["optimizer"] == "auto":
            options["optimizer"] = "centering"
    return options
