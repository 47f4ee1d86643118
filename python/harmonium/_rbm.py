"""Restricted Boltzmann machines."""

import numpy as np

from . import _core
from ._estimator import Machine
from ._inputs import out_dtype, table
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
        return self._fit(self._rows(X, reset=True))

    def partial_fit(self, X, y=None):
        """One update by the rows of X; chains and averages go on from call to call. Rates do not fall to zero."""
        first = "model_" not in self.__dict__
        return self._partial_fit(self._rows(X, reset=first))

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
    def precision_visible_(self):
        return self._parameter("visible.precision")

    @property
    def h_samples_(self):
        learner = getattr(self, "_learner", None)
        chains = learner.chains() if learner is not None else []
        if len(chains) < 2:
            raise AttributeError("there are no persistent chains of hidden units; gradient='pcd' has them")
        return chains[-1]

    @classmethod
    def from_arrays(cls, W, a, b, *, visible="bernoulli"):
        """A fitted RBM of weights W (n_features, n_components), visible biases a and hidden biases b.

        Visible units are "bernoulli", "gaussian", "counts" or "softmax:K" (one-hot groups of K columns each).

        >>> import numpy as np
        >>> rbm = RBM.from_arrays(np.zeros((3, 2)), np.zeros(3), np.zeros(2))
        >>> rbm.transform([[0, 1, 1]])
        array([[0.5, 0.5]])
        """
        arrays = [np.asarray(each, dtype=np.float64) for each in (W, a, b)]
        self = cls._of(_core.Model.from_arrays(*(table(each) for each in arrays), visible))
        return self.set_params(n_components=arrays[0].shape[-1], visible=visible)
