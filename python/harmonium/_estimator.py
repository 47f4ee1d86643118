"""What all estimators share."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

try:  # scikit-learn 1.2 and later
    from sklearn.base import ClassNamePrefixFeaturesOutMixin
except ImportError:  # what Debian 12 has, under its earlier name
    from sklearn.base import _ClassNamePrefixFeaturesOutMixin as ClassNamePrefixFeaturesOutMixin

from . import _core
from ._inputs import PASSED, dense, from_torch, is_gray, is_torch, like, out_dtype, table
from ._parameters import options_of
from ._progress import Progress

_SEEDS = np.iinfo(np.int32).max


def draw_seed(random_state):
    """A seed: the number itself where random_state is one, so that the tool's --seed gives the same."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(_SEEDS))


class Machine(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Fitting, files and questions; what a model is called in the library is `_model`."""

    _model = None

    # Fitting -----------------------------------------------------------------------------------------------------

    def _rows(self, X, reset):
        """X checked in scikit-learn's way, as a dense array that shares memory with X where it can."""
        if is_torch(X):
            X = from_torch(X)
        X = self._validate_data(X, accept_sparse=("csr", "csc"), dtype=list(PASSED), reset=reset)
        return dense(X)

    def _known(self, X):
        """Rows to ask a fitted model about: an array, with bytes of gray as numbers."""
        check_is_fitted(self, "model_")
        X = self._rows(X, reset=False)
        return X.astype(np.float32) * np.float32(1 / 255) if X.dtype == np.uint8 and self.gray_bytes_ else X

    def _choose_visible(self, options, X, gray):
        """Units for values beyond [0, 1] where the user has said nothing."""
        if options["visible"] != "auto" or X.dtype == np.bool_ or X.dtype == np.uint8:
            return
        low, high = table(X).range()
        if np.float32(low) < 0 or np.float32(high) > 1:
            warnings.warn(
                f"values lie between {low:.4g} and {high:.4g}, so the visible units are gaussian; scale the data to "
                "[0, 1] for binary units, or say visible='gaussian'",
                UserWarning,
                stacklevel=4,
            )
            options["visible"] = "gaussian"

    def _learner_data(self, X, labels=None, classes=0, valid=None):
        scale = 1 / 255 if X.dtype == np.uint8 and self.gray_bytes_ else 1.0
        extra = {}
        if valid is not None:
            extra = {"valid": table(valid[0]), "valid_labels": None if valid[1] is None else table(valid[1])}
        return _core.Data(
            table(X),
            scale,
            labels=None if labels is None else table(labels),
            classes=classes,
            image=None if self.image_shape is None else tuple(int(each) for each in self.image_shape),
            **extra,
        )

    def _all_options(self, X):
        options = options_of(self)
        options["model"] = self._model
        options["seed"] = draw_seed(self.random_state)
        if self.n_iter is not None:
            if not self.n_iter > 0:
                raise ValueError(f"n_iter must be a positive number, not {self.n_iter!r}")
            options["updates"] = max(1, int(np.ceil(self.n_iter * X.shape[0] / max(1, self.batch_size))))
        return options

    def _fit(self, X, labels=None, classes=0, valid=None):
        self.gray_bytes_ = bool(is_gray(X))
        options = self._all_options(X)
        self._choose_visible(options, X, self.gray_bytes_)
        learner = _core.Learner(options, self._learner_data(X, labels, classes, valid))
        progress = Progress(type(self).__name__) if self.verbose else None
        try:
            learner.learn(self.n_threads or 0, bool(self.monitor or self.verbose), progress)
        except KeyboardInterrupt:
            self._take(learner)
            raise
        finally:
            if progress is not None:
                progress.close()
        self._take(learner)
        return self

    def _partial_fit(self, X, labels=None, classes=0):
        learner = getattr(self, "_learner", None)
        if learner is None:
            self.gray_bytes_ = bool(is_gray(X))
            options = self._all_options(X)
            self._choose_visible(options, X, self.gray_bytes_)
            learner = _core.Learner(options, self._learner_data(X, labels, classes))
        learner.learn_batch(self._learner_data(X, labels, classes), self.n_threads or 0)
        self._take(learner)
        return self

    def _take(self, learner):
        self._learner = learner
        self.model_ = learner.model()
        self.n_updates_ = learner.update
        self.history_ = learner.history
        self.options_ = learner.options
        self._n_features_out = self._width_out()

    def _width_out(self):
        return next(value.shape[0] for name, value in reversed(self.model_.parameters().items()) if name.endswith("hidden.bias"))

    # Questions ---------------------------------------------------------------------------------------------------

    def transform(self, X):
        """Means of the topmost hidden units given rows of data.

        Parameters
        ----------
        X : {array-like, sparse matrix, torch tensor} of shape (n_samples, n_features)

        Returns
        -------
        h : array of shape (n_samples, n_components), a tensor where X is one
        """
        rows = self._known(X)
        return like(X, self.model_.transform(table(rows)).numpy().astype(out_dtype(rows), copy=False))

    def score_samples(self, X):
        """Pseudo-likelihood of each row, estimated from one unit as BernoulliRBM does it.

        n_features · log p(v_i | all other units) for one unit i of each row: on average over i the pseudo-likelihood,
        which is not the likelihood; `log_likelihood` is. The unit is chosen by the row's values and random_state, so
        that a row scores the same wherever it stands.
        """
        rows = self._known(X)
        seed = self.random_state if isinstance(self.random_state, (int, np.integer)) else 0
        return like(X, self.model_.pseudo_likelihood(table(rows), abs(int(seed))).numpy())

    def score(self, X, y=None):
        """Mean of score_samples."""
        return float(np.mean(np.asarray(self.score_samples(X))))

    # Files -------------------------------------------------------------------------------------------------------

    def save(self, path):
        """Write the model to a .safetensors file that the tool reads, and `load` here."""
        check_is_fitted(self, "model_")
        self.model_.save(str(path))

    @classmethod
    def load(cls, path):
        """An estimator of a run folder, a .safetensors file, or an .npz with W, visible_bias and hidden_bias."""
        return cls._of(_core.Model.load(str(path)))

    @classmethod
    def _of(cls, model):
        if model.kind != cls._model:
            raise ValueError(f"this is a model of kind '{model.kind}', not '{cls._model}'; harmonium.load takes any")
        self = cls()
        self.model_ = model
        self.n_features_in_ = model.visible_width
        self.gray_bytes_ = True
        self.n_updates_ = int(model.notes.get("updates", 0))
        self.history_ = []
        self._n_features_out = self._width_out()
        self._after_load()
        return self

    def _after_load(self):
        pass

    def _more_tags(self):
        return {"preserves_dtype": [np.float64, np.float32]}
