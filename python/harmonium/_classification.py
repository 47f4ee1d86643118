"""Classification RBMs: joint models of data and label."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._estimator import Machine
from ._inputs import from_torch, is_torch, like
from ._parameters import with_parameters


@with_parameters(without=["layers", "pretrain", "pretrain_updates"])
class ClassificationRBM(ClassifierMixin, Machine):
    """RBM with a label beside the data, a joint model of both (Larochelle & Bengio 2008).

    {parameters}

    Attributes
    ----------
    classes_ : labels, in the order of predict_proba
    components_, intercept_hidden_, intercept_visible_ : as of RBM
    components_label_ : weights between hidden units and classes, (n_components, n_classes)
    intercept_label_ : (n_classes,)

    Examples
    --------
    >>> from harmonium import ClassificationRBM, load_digits
    >>> X, y = load_digits()
    >>> model = ClassificationRBM(objective="hybrid", updates=500, random_state=0).fit(X, y)
    >>> model.score(*load_digits("test")) > 0.8
    True
    """

    _model = "classification_rbm"

    def fit(self, X, y, X_valid=None, y_valid=None):
        """Learn from rows and their labels; `keep="best"` chooses by X_valid and y_valid.

        Ctrl-C raises KeyboardInterrupt and leaves an estimator that has learnt so far.
        """
        rows, labels = self._with_labels(X, y, reset=True)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise ValueError(f"a classifier needs at least 2 classes, and y has 1 class: {self.classes_[0]!r}")
        valid = None
        if X_valid is not None:
            valid_rows, valid_labels = self._with_labels(X_valid, y_valid, reset=False)
            valid = (valid_rows.astype(rows.dtype, copy=False), self._numbers(valid_labels))
        return self._fit(rows, self._numbers(labels), len(self.classes_), valid)

    def partial_fit(self, X, y, classes=None):
        """One update by some rows; `classes` names all labels there will be, at the first call."""
        first = "model_" not in self.__dict__
        rows, labels = self._with_labels(X, y, reset=first)
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self.classes_ = np.unique(classes)
        return self._partial_fit(rows, self._numbers(labels), len(self.classes_))

    def predict_log_proba(self, X):
        """log p(class | row), (n_samples, n_classes)."""
        return like(X, self._log_p(X))

    def predict_proba(self, X):
        """p(class | row), (n_samples, n_classes)."""
        return like(X, np.exp(self._log_p(X)))

    def predict(self, X):
        """The most probable class of each row."""
        found = self._log_p(X).argmax(axis=1)
        return self.classes_[found]

    def _log_p(self, X):
        return self._ask(X, lambda rows: self.model_.class_log_probabilities(rows))

    def score(self, X, y, sample_weight=None):
        """Share of rows whose class is found."""
        return ClassifierMixin.score(self, X, from_torch(y) if is_torch(y) else y, sample_weight)

    def _with_labels(self, X, y, reset):
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        rows = self._rows(X, reset=reset)
        labels = column_or_1d(from_torch(y) if is_torch(y) else y, warn=True)
        check_classification_targets(labels)
        if len(labels) != len(rows):
            raise ValueError(f"X has {len(rows)} rows, and y has {len(labels)} labels")
        return rows, labels

    def _numbers(self, labels):
        numbers = np.searchsorted(self.classes_, labels)
        known = numbers < len(self.classes_)
        known &= self.classes_[np.minimum(numbers, len(self.classes_) - 1)] == labels
        if not known.all():
            raise ValueError(f"y has a label that is not among the classes: {np.asarray(labels)[~known][0]!r}")
        return numbers.astype(np.int64)

    def _known_labels(self, y):
        if y is None:
            raise ValueError("this is a model of data and label: give y as well")
        return self._numbers(column_or_1d(from_torch(y) if is_torch(y) else y))

    def _held(self, label):
        return None if label is None else int(self._numbers([label])[0])

    def _after_load(self):
        self.classes_ = np.arange(self.model_.classes)

    @property
    def components_label_(self):
        return self._parameter("label_hidden.weights").T

    @property
    def intercept_label_(self):
        return self._parameter("label.bias")
