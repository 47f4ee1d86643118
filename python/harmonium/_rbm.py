"""Restricted Boltzmann machines."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._estimator import _SEEDS, Machine
from ._inputs import dense, from_torch, is_torch, like, out_dtype, table
from ._parameters import with_parameters


@with_parameters(
    without=["layers", "pretrain", "pretrain_updates", "objective", "generative_weight", "keep"],
)
class RBM(Machine):
    """Restricted Boltzmann machine, trained by natural gradient (FANG) unless told otherwise.

    Takes the place of sklearn.neural_network.BernoulliRBM: attributes and methods of the same names mean the same.

    {parameters}

    Attributes
    ----------
    components_ : weights, (n_components, n_features)
    intercept_hidden_ : (n_components,)
    intercept_visible_ : (n_features,)
    precision_visible_ : (n_features,), of gaussian visible units
    h_samples_ : hidden units of the persistent chains
    n_updates_ : updates done
    history_ : what was measured on the way, a dict for every line
    options_ : all options as they were resolved

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import RBM
    >>> X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> model = RBM(n_components=2, updates=100, random_state=0)
    >>> model.fit(X)
    RBM(n_components=2, random_state=0, updates=100)
    >>> model.components_.shape
    (2, 3)
    """

    _model = "rbm"

    def fit(self, X, y=None):
        """Learn from all rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, torch tensor} of shape (n_samples, n_features)
            Values in [0, 1] for binary units; bytes are bits, or gray values 0 … 255 where one is larger than 1.
            float32, float64, bool and uint8 are not copied; a sparse matrix is made dense, in bytes where it holds bits.
        y : ignored

        Returns
        -------
        self

        Ctrl-C raises KeyboardInterrupt and leaves an estimator that has learnt so far.
        """
        self._learner = None
        return self._fit(self._rows(X, reset=True))

    def partial_fit(self, X, y=None):
        """One update by the rows of X; chains and averages go on from call to call. Rates do not fall to zero."""
        first = getattr(self, "_learner", None) is None
        return self._partial_fit(self._rows(X, reset=first))

    def gibbs(self, v, n_steps=1):
        """Hidden units drawn given v, then visible ones given those, n_steps times over.

        >>> import numpy as np
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
        return like(X, self.model_.free_energy(table(self._known(X))).numpy())

    # By the names that BernoulliRBM has for them.
    def _mean_hiddens(self, v):
        v = np.asarray(v)
        rows = v[None] if v.ndim == 1 else v
        means = self.model_.transform(table(rows)).numpy().astype(out_dtype(rows), copy=False)
        return means[0] if v.ndim == 1 else means

    def _sample_hiddens(self, v, rng):
        p = self._mean_hiddens(v)
        return rng.uniform(size=p.shape) < p

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

    @property
    def precision_visible_(self):
        return self._parameter("visible.precision")

    @property
    def h_samples_(self):
        learner = getattr(self, "_learner", None)
        chains = learner.chains() if learner is not None else []
        if len(chains) < 2:
            raise AttributeError("there are no persistent chains")
        return chains[-1]

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

    @classmethod
    def from_arrays(cls, W, a, b, *, visible="bernoulli"):
        """A fitted RBM of weights W (n_features, n_components), visible biases a and hidden biases b.

        >>> import numpy as np
        >>> rbm = RBM.from_arrays(np.zeros((3, 2)), np.zeros(3), np.zeros(2))
        >>> rbm.transform([[0, 1, 1]])
        array([[0.5, 0.5]])
        """
        arrays = [np.asarray(each, dtype=np.float64) for each in (W, a, b)]
        self = cls._of(_core.Model.from_arrays(*(table(each) for each in arrays), visible))
        return self.set_params(n_components=arrays[0].shape[-1], visible=visible)
