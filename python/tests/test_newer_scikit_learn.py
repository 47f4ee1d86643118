"""scikit-learn 1.6 and 1.7, of which Debian has neither: what they changed is changed here for a moment."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.base
import sklearn.utils.validation

from harmonium import ClassificationRBM, RBM


@pytest.fixture
def newer(monkeypatch):
    """validate_data is a function, the method is gone, tags are objects."""
    method = sklearn.base.BaseEstimator._validate_data
    monkeypatch.delattr(sklearn.base.BaseEstimator, "_validate_data")
    monkeypatch.setattr(
        sklearn.utils.validation, "validate_data", lambda estimator, X, **how: method(estimator, X, **how), raising=False
    )

    def tags(self):
        return SimpleNamespace(
            transformer_tags=SimpleNamespace(preserves_dtype=["float64"]), input_tags=SimpleNamespace(sparse=False)
        )

    monkeypatch.setattr(sklearn.base.BaseEstimator, "__sklearn_tags__", tags, raising=False)


def test_estimators_work_without_the_method(newer, bits):
    model = RBM(n_components=3, updates=10, random_state=0).fit(bits)
    assert model.transform(bits).shape == (300, 3)
    with pytest.raises(ValueError, match="features"):
        model.transform(bits[:, :5])
    labels = (bits[:, 0] > 0).astype(int)
    assert len(ClassificationRBM(n_components=3, updates=10, random_state=0).fit(bits, labels).predict(bits)) == 300


def test_tags_are_objects(newer):
    tags = RBM().__sklearn_tags__()
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]
    assert tags.input_tags.sparse is True


def test_tags_are_dictionaries_before():
    assert RBM()._more_tags()["preserves_dtype"] == [np.float64, np.float32]
