"""Deep models: belief nets and Boltzmann machines."""

from sklearn.utils.validation import check_is_fitted

from . import _core
from ._estimator import Machine
from ._inputs import like
from ._parameters import default_of, with_parameters

_LAYERS = [
    ("layers", (default_of("hidden"),) * 2, "hidden layers from the bottom up, each a number or a unit type such as "
     "gaussian:20")
]  # fmt: skip


@with_parameters(
    without=["hidden", "pretrain", "pretrain_updates", "objective", "generative_weight", "keep"], extra=_LAYERS
)
class DBN(Machine):
    """Deep belief net: a stack of RBMs, each trained on what the one below makes of the data (Hinton et al. 2006).

    updates, or n_iter, are those of every layer. There is no partial_fit: a layer needs the one below trained.

    {parameters}

    Attributes
    ----------
    coefs_ : weights of each layer, (units below, units above)
    intercepts_ : biases of the hidden units of each layer
    intercept_visible_ : (n_features,)

    Examples
    --------
    >>> from harmonium import DBN, load_digits
    >>> X, y = load_digits()
    >>> DBN(layers=(30, 10), updates=100, random_state=0).fit_transform(X).shape
    (1297, 10)
    """

    _model = "dbn"

    def fit(self, X, y=None):
        """Learn layer after layer. Ctrl-C raises KeyboardInterrupt and leaves the layers that were begun."""
        self.__dict__.pop("log_z_", None)
        return self._fit(self._rows(X, reset=True))

    def score_samples(self, X):
        """A lower bound on log p of each row, by one draw of its hidden units, as far as log Z of the top machine is right.

        That is found once for a fitted model: exactly where one of its sides has 22 binary units or less, else by AIS.
        """
        check_is_fitted(self, "model_")
        if "log_z_" not in self.__dict__:
            options = {"thorough": False, "betas": 1000, "seed": 0}
            self.log_z_ = _core.log_z(self.model_, options, self.n_threads or 0, None, None)["value"]
        found = self._ask(X, lambda rows: _core.belief_net_log_f(self.model_, rows, self._fixed_seed()))
        return like(X, found - self.log_z_)

    @property
    def coefs_(self):
        return [value for name, value in self._parameters_of_model().items() if name.endswith("visible_hidden.weights")]

    @property
    def intercepts_(self):
        return [value for name, value in self._parameters_of_model().items() if name.endswith("hidden.bias")]

    def _parameters_of_model(self):
        if "model_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted yet")
        return self.model_.parameters()

    @property
    def intercept_visible_(self):
        return self._parameter("machine1/visible.bias")

    @property
    def components_(self):
        """Weights of the lowest layer, (units, n_features)."""
        return self._parameter("machine1/visible_hidden.weights").T

    @property
    def intercept_hidden_(self):
        return self._parameter("machine1/hidden.bias")

    def _more_tags(self):  # newer versions of scikit-learn are told by whoever calls check_estimator
        tags = super()._more_tags()
        # Hidden units are drawn for a row where it stands, as the units of BernoulliRBM are.
        tags["_xfail_checks"] = {
            "check_methods_subset_invariance": "score_samples draws hidden units",
            "check_methods_sample_order_invariance": "score_samples draws hidden units",
        }
        return tags


@with_parameters(without=["hidden", "objective", "generative_weight", "keep"], extra=_LAYERS)
class DBM(Machine):
    """Deep Boltzmann machine: hidden layers one above the other, trained jointly (Salakhutdinov & Hinton 2009).

    pretrain="rbm" learns an RBM for each layer first, for as many updates each unless pretrain_updates says otherwise.

    {parameters}

    Attributes
    ----------
    coefs_ : weights of each edge, (units below, units above)
    intercepts_ : biases of each hidden layer
    intercept_visible_ : (n_features,)

    Examples
    --------
    >>> from harmonium import DBM, load_digits
    >>> X, y = load_digits()
    >>> DBM(layers=(30, 10), updates=50, random_state=0).fit_transform(X[:200]).shape
    (200, 10)
    """

    _model = "dbm"

    def fit(self, X, y=None):
        """Learn all layers together. Ctrl-C raises KeyboardInterrupt and leaves an estimator that has learnt so far."""
        return self._fit(self._rows(X, reset=True))

    def partial_fit(self, X, y=None):
        """One update by the rows of X; chains and averages go on from call to call. Rates do not fall to zero."""
        first = "model_" not in self.__dict__
        if first and self.pretrain != "none":
            raise ValueError(f"pretrain={self.pretrain!r} needs all data at once: fit, then go on with partial_fit")
        return self._partial_fit(self._rows(X, reset=first))

    @property
    def coefs_(self):
        self._parameter("visible.bias")
        return [value for name, value in self.model_.parameters().items() if name.endswith(".weights")]

    @property
    def intercepts_(self):
        self._parameter("visible.bias")
        return [
            value for name, value in self.model_.parameters().items() if name.startswith("hidden") and name.endswith(".bias")
        ]

    @property
    def components_(self):
        """Weights between data and the lowest hidden layer, (units, n_features)."""
        return self.coefs_[0].T

    @property
    def intercept_hidden_(self):
        """Biases of the lowest hidden layer."""
        return self.intercepts_[0]
