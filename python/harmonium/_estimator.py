"""What all estimators share."""

import os
import warnings

import numpy as np
import scipy.sparse as sparse
import sklearn.utils.validation
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

try:  # scikit-learn 1.2 and later
    from sklearn.base import ClassNamePrefixFeaturesOutMixin
except ImportError:  # what Debian 12 has, under its earlier name
    from sklearn.base import _ClassNamePrefixFeaturesOutMixin as ClassNamePrefixFeaturesOutMixin

from . import _core
from ._estimate import Estimate
from ._inputs import PASSED, dense, from_torch, is_gray, is_torch, like, out_dtype, refuse_other_kinds, table
from ._memory import notes_of, recall, recall_run, recall_structure
from ._parameters import options_of
from ._progress import Progress, show_work

_SEEDS = np.iinfo(np.int32).max
_SPARSE_ROWS = 8192  # made dense at once


def draw_seed(random_state):
    """A seed: the number itself where random_state is one, so that the tool's --seed gives the same."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(_SEEDS))


class Machine(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Fitting, files and questions; what a model is called in the library is `_model`."""

    _model = None

    # Fitting -----------------------------------------------------------------------------------------------------

    def _checked(self, X, reset):
        """X checked in scikit-learn's way; shares memory with X where it can."""
        if is_torch(X):
            X = from_torch(X)
        refuse_other_kinds(X)
        how = {"accept_sparse": "csr", "dtype": list(PASSED), "reset": reset}
        # A function since scikit-learn 1.6; the method it was before is gone in 1.7.
        validate = getattr(sklearn.utils.validation, "validate_data", None)
        return self._validate_data(X, **how) if validate is None else validate(self, X, **how)

    def _rows(self, X, reset):
        return dense(self._checked(X, reset))

    def _scale(self, rows):
        """What rows are multiplied by: bytes may be gray values."""
        if rows.dtype != np.uint8:
            return 1.0
        gray = is_gray(rows) if self.gray_bytes_ is None else self.gray_bytes_
        return 1 / 255 if gray else 1.0

    def _ask(self, X, question):
        """A question about each row of X, as an array; sparse rows are made dense some at a time."""
        check_is_fitted(self, "model_")
        rows = self._checked(X, reset=False)

        def answer(piece):
            piece = dense(piece)
            scale = self._scale(piece)
            return question(table(piece if scale == 1 else piece.astype(np.float32) * np.float32(scale))).numpy()

        if not sparse.issparse(rows) or rows.shape[0] <= _SPARSE_ROWS:
            return answer(rows)
        starts = range(0, rows.shape[0], _SPARSE_ROWS)
        return np.concatenate([answer(rows[start : start + _SPARSE_ROWS]) for start in starts])

    def _choose_visible(self, options, X):
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
        extra = {}
        if valid is not None:
            extra = {"valid": table(valid[0]), "valid_labels": None if valid[1] is None else table(valid[1])}
        return _core.Data(
            table(X),
            self._scale(X),
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
            options["updates"] = max(1, int(np.ceil(self.n_iter * X.shape[0] / max(1, options["batch"]))))
        return options

    def _fit(self, X, labels=None, classes=0, valid=None):
        self.gray_bytes_ = is_gray(X)
        options = self._all_options(X)
        self._choose_visible(options, X)
        learner = _core.Learner(options, self._learner_data(X, labels, classes, valid))
        # Nothing is wrong with what was asked for: what was fitted before is gone, whatever comes of this.
        self._learner = None
        self.__dict__.pop("model_", None)
        self._before = (0, [])
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
            if "model_" not in self.__dict__:
                self.gray_bytes_ = is_gray(X)
            options = self._all_options(X)
            self._choose_visible(options, X)
            learner = _core.Learner(options, self._learner_data(X, labels, classes))
            self._before = (0, [])
            if "model_" in self.__dict__:  # of a file, of arrays, or changed since
                learner.start_from(self.model_)
                self._before = (self.n_updates_, self.history_)
        learner.learn_batch(self._learner_data(X, labels, classes), self.n_threads or 0)
        self._take(learner)
        return self

    def _take(self, learner):
        self._learner = learner
        self.model_ = learner.model()
        updates, history = self._before  # of a model that learning goes on with
        self.n_updates_ = updates + learner.update
        self.history_ = history + learner.history
        self.options_ = learner.options
        self._n_features_out = self.model_.hidden_width

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
        means = self._ask(X, lambda rows: self.model_.transform(rows))
        return like(X, means.astype(out_dtype(X), copy=False))

    def score_samples(self, X):
        """Pseudo-likelihood of each row, estimated from one unit as BernoulliRBM does it.

        n_features · log p(v_i | all other units) for one unit i of each row: on average over i the pseudo-likelihood,
        which is not the likelihood; `log_likelihood` is. The unit is chosen by the row's values and random_state, so
        that a row scores the same wherever it stands.
        """
        return like(X, self._ask(X, lambda rows: self.model_.pseudo_likelihood(rows, self._fixed_seed())))

    def _fixed_seed(self):
        return abs(int(self.random_state)) if isinstance(self.random_state, (int, np.integer)) else 0

    def score(self, X, y=None):
        """Mean of score_samples."""
        return float(np.mean(np.asarray(self.score_samples(X))))

    def log_likelihood(self, X, y=None, method="auto", *, binarize="auto", random_state=0, **options):
        """How probable rows are under the model: mean log p in nats, with an interval and what kind of number it is.

        Parameters
        ----------
        X : rows; gray values are drawn as bits (binarize="auto"), since binary units have no density for them
        y : labels, where the model has a label
        method : "exact", "ais", "ma-ais", "raise", "sandwich"; "auto": exact where one side has 25 binary units or less,
            else a sandwich of bounds that grows until they agree within `gap` nats or `minutes` are over
        binarize : "auto", "none", "threshold", "stochastic", "dequantized" or "levels"
        random_state : seed of chains and bits
        options : chains, betas, gap, minutes, raise_rows, raise_chains, schedule, base, knots, sum_out, as of
            `harmonium evaluate`

        Returns
        -------
        Estimate : with value, interval, kind, method, verdict, log_z and, of a sandwich, lower and upper_log_z

        >>> import numpy as np
        >>> from harmonium import RBM
        >>> rbm = RBM.from_arrays(np.zeros((3, 2)), np.zeros(3), np.zeros(2))
        >>> print(rbm.log_likelihood([[0, 1, 1]]))  # 3 log ½
        -2.079442 nats, exact
        """
        check_is_fitted(self, "model_")
        rows = self._rows(X, reset=False)
        labels = self._known_labels(y)
        options.update(method=method, seed=draw_seed(random_state))
        return Estimate._of(
            _core.log_likelihood(
                self.model_,
                table(rows),
                self._scale(rows),
                None if labels is None else table(labels),
                binarize,
                options,
                self.n_threads or 0,
                *self._judge_hooks(),
            )
        )

    def log_z(self, method="auto", *, random_state=0, **options):
        """log of the partition function (of the top machine of a DBN), an Estimate; options as for log_likelihood."""
        check_is_fitted(self, "model_")
        options.update(method=method, seed=draw_seed(random_state))
        return Estimate._of(_core.log_z(self.model_, options, self.n_threads or 0, *self._judge_hooks()))

    def sample(self, n_samples=1, *, sweeps=None, sampler=None, means=False, label=None, random_state=None):
        """Rows drawn from the model.

        Parameters
        ----------
        n_samples : rows, each from a chain of its own that begins at the biases
        sweeps : Gibbs sweeps before they are taken; None: as many as `harmonium sample` makes
        sampler : "gibbs", "parallel_tempering", "exact", … as of `harmonium sample`; not for a DBN
        means : E[v | h] in place of v: pictures without noise
        label : class that is held, of a ClassificationRBM
        random_state : None: goes on with the estimator's own

        >>> import numpy as np
        >>> from harmonium import RBM
        >>> rbm = RBM.from_arrays(np.zeros((3, 2)), np.array([50, -50, 50]), np.zeros(2))
        >>> rbm.sample(2, random_state=0)
        array([[1., 0., 1.],
               [1., 0., 1.]], dtype=float32)
        """
        check_is_fitted(self, "model_")
        seed = self._next_seed() if random_state is None else draw_seed(random_state)
        drawn = _core.sample(
            self.model_, n_samples, sweeps, sampler, bool(means), self._held(label), seed, self.n_threads or 0
        )
        return drawn.numpy()

    def gibbs(self, v, n_steps=1):
        """Hidden units drawn given v, then visible ones given those, n_steps times over.

        >>> import numpy as np
        >>> from harmonium import RBM
        >>> rbm = RBM(n_components=2, updates=10, random_state=0).fit(np.eye(4))
        >>> rbm.gibbs(np.eye(4)).dtype
        dtype('bool')
        """
        check_is_fitted(self, "model_")
        rows = dense(from_torch(v) if is_torch(v) else v)
        rows = np.asarray(rows)
        flat = rows.ndim == 1
        drawn = self.model_.gibbs(table(rows[None] if flat else rows), self._next_seed(), n_steps).numpy()
        drawn = drawn[0] if flat else drawn
        return like(v, drawn.astype(bool) if self.model_.visible_units != "gaussian" else drawn)

    def _next_seed(self):
        if not hasattr(self, "random_state_"):
            self.random_state_ = check_random_state(self.random_state)
        return int(self.random_state_.randint(_SEEDS))

    def free_energy(self, X):
        """−log Σ_h e^{−E(v, h)} of each row: small for probable rows."""
        return like(X, self._ask(X, lambda rows: self.model_.free_energy(rows)))

    def _known_labels(self, y):
        return None

    def _held(self, label):
        if label is not None:
            raise ValueError(f"{type(self).__name__} knows no labels, so label {label!r} cannot be held")
        return None

    def _judge_hooks(self):
        if not self.verbose:
            return None, None
        return show_work, print

    # Parameters --------------------------------------------------------------------------------------------------

    @property
    def components_(self):
        return self._parameter("visible_hidden.weights").T

    @components_.setter
    def components_(self, value):
        self._set("visible_hidden.weights", np.asarray(value).T)

    @property
    def intercept_hidden_(self):
        return self._parameter("hidden.bias")

    @intercept_hidden_.setter
    def intercept_hidden_(self, value):
        self._set("hidden.bias", value)

    @property
    def intercept_visible_(self):
        return self._parameter("visible.bias")

    @intercept_visible_.setter
    def intercept_visible_(self, value):
        self._set("visible.bias", value)

    def _parameter(self, name):
        if "model_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted yet")
        try:
            return self.model_.parameters()[name]
        except KeyError:
            raise AttributeError(f"the model has no {name}") from None

    def _set(self, name, value):
        if "model_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted yet; RBM.from_arrays makes one of arrays")
        self.model_.set_parameter(name, table(np.asarray(value, dtype=np.float32)))
        self._learner = None  # what it knows is old

    # Files -------------------------------------------------------------------------------------------------------

    def save(self, path):
        """Write the model to a .safetensors file that the tool reads, and `load` here.

        The file keeps parameters, classes, names of features, the number of updates and history_ as well. Chains and
        averages of the training are not in it; pickle keeps those.
        """
        check_is_fitted(self, "model_")
        self.model_.save(str(path), notes_of(self))

    @classmethod
    def load(cls, path):
        """An estimator of a run folder, a .safetensors file, or an .npz with W, visible_bias and hidden_bias."""
        return cls._of(_core.Model.load(str(path)), path)

    @classmethod
    def _of(cls, model, path=""):
        if model.kind != cls._model:
            raise ValueError(f"this is a model of kind '{model.kind}', not '{cls._model}'; harmonium.load takes any")
        self = cls()
        self._learner = None
        self.model_ = model
        self.n_features_in_ = model.visible_width
        self.gray_bytes_ = None
        self.n_updates_ = int(model.notes.get("updates", 0))
        self.history_ = []
        self._n_features_out = self.model_.hidden_width
        self._after_load()
        if not recall(self, model.notes, path):
            recall_structure(self, model)
            if os.path.isdir(path):
                recall_run(self, path)
        return self

    def _after_load(self):
        pass

    def _more_tags(self):  # before scikit-learn 1.6
        return {"preserves_dtype": [np.float64, np.float32]}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags
