"""Classification RBMs, belief nets and deep machines."""

import numpy as np
import pytest

from harmonium import DBM, DBN, ClassificationRBM, RBM


def test_a_classifier_tells_digits_apart_and_knows_its_labels(digits):
    X, y = digits
    names = np.array(list("abcdefghij"))[y]
    model = ClassificationRBM(n_components=50, objective="hybrid", updates=600, random_state=0).fit(X, names)
    assert list(model.classes_) == list("abcdefghij")
    assert model.score(X, names) > 0.9  # chance: 0.1
    p = model.predict_proba(X[:20])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X[:20]), atol=1e-6)
    assert model.components_label_.shape == (50, 10) and model.components_.shape == (50, 64)
    assert model.sample(3, label="d", sweeps=20, random_state=0).shape == (3, 64)
    with pytest.raises(ValueError, match="not among the classes"):
        model.sample(3, label="z")


def test_class_probabilities_follow_from_the_joint_model():
    """p(c | v) by enumerating hidden units in numpy."""
    rng = np.random.RandomState(0)
    X, y = (rng.rand(60, 5) < 0.5).astype(float), rng.randint(0, 3, 60)
    model = ClassificationRBM(n_components=4, updates=30, random_state=0, rate_weights=0.5).fit(X, y)
    W, U, b, d = model.components_.T, model.components_label_.T, model.intercept_hidden_, model.intercept_label_
    log_f = np.stack([d[c] + np.logaddexp(0, X @ W + U[c] + b).sum(axis=1) for c in range(3)], axis=1)
    expected = log_f - np.logaddexp.reduce(log_f, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-4)
    joint = model.log_likelihood(X, y)
    assert joint.kind == "exact"
    with pytest.raises(ValueError, match="give y"):
        model.log_likelihood(X)


def test_the_best_model_is_kept_by_validation_data(digits):
    X, y = digits
    model = ClassificationRBM(n_components=20, keep="best", updates=100, log_every=20, random_state=0)
    model.fit(X[:800], y[:800], X_valid=X[800:], y_valid=y[800:])
    errors = {line["update"]: line["classification_error"] for line in model.history_}
    best = min(errors.values())
    assert model.score(X[800:], y[800:]) == pytest.approx(1 - best, abs=0.03)
    with pytest.raises(ValueError, match="validation"):
        ClassificationRBM(keep="best", updates=10).fit(X, y)


def test_a_classifier_learns_batch_by_batch(digits):
    X, y = digits
    model = ClassificationRBM(n_components=20, random_state=0)
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X[:10], y[:10])
    model.partial_fit(X[:10], y[:10], classes=np.arange(10))
    for start in range(10, 1210, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100])
    assert model.n_updates_ == 13 and model.predict_proba(X[:2]).shape == (2, 10)


def test_a_stack_bounds_its_likelihood(bits):
    net = DBN(layers=(8, 6), updates=3000, random_state=0).fit(bits)
    assert [each.shape for each in net.coefs_] == [(12, 8), (8, 6)]
    assert net.transform(bits).shape == (300, 6)
    bound = net.log_likelihood(bits)
    assert bound.kind == "lower bound"
    # The same bound, row by row and one draw each; its error is that of 300 draws, far below one nat.
    assert net.score(bits) == pytest.approx(bound.value, abs=1)
    one = RBM(n_components=8, updates=3000, random_state=0).fit(bits)
    assert bound.value == pytest.approx(one.log_likelihood(bits).value, abs=3)
    assert net.sample(4, sweeps=10, random_state=0).shape == (4, 12)
    assert not hasattr(net, "partial_fit")


def test_a_deep_machine_learns_with_and_without_pretraining(bits):
    plain = DBM(layers=(8, 4), updates=200, particles=50, random_state=0).fit(bits)
    pretrained = DBM(layers=(8, 4), updates=100, pretrain="rbm", particles=50, random_state=0).fit(bits)
    for machine in (plain, pretrained):
        assert [each.shape for each in machine.coefs_] == [(12, 8), (8, 4)]
        assert machine.transform(bits).shape == (300, 4)
        estimate = machine.log_likelihood(bits)
        assert estimate.kind == "exact" and -12 * np.log(2) < estimate.value < 0
        assert np.isfinite(machine.score_samples(bits)).all()
        assert set(np.unique(machine.gibbs(bits[:5]))) <= {False, True}
    assert (plain.partial_fit(bits[:50]).coefs_[0] != pretrained.coefs_[0]).any()


def test_pretraining_needs_all_data(bits):
    with pytest.raises(ValueError, match="pretrain"):
        DBM(layers=(8, 4), pretrain="rbm").partial_fit(bits)


def test_layers_must_be_numbers(bits):
    with pytest.raises(TypeError, match="layers"):
        DBN(layers=5).fit(bits)
    with pytest.raises(ValueError, match="layers"):
        DBM(layers=()).fit(bits)
