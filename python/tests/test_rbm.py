"""An RBM against formulas in numpy, enumeration and the tool."""

import itertools

import numpy as np
import pytest

import harmonium
from harmonium import RBM


@pytest.fixture(scope="module")
def small():
    """A random RBM of 6 × 4 units and its parameters."""
    rng = np.random.RandomState(1)
    W, a, b = rng.normal(0, 1, (6, 4)), rng.normal(0, 0.5, 6), rng.normal(0, 0.5, 4)
    return RBM.from_arrays(W, a, b), W, a, b


def free_energy(v, W, a, b):
    return -v @ a - np.logaddexp(0, v @ W + b).sum(axis=1)


def all_states(n):
    return np.array(list(itertools.product([0, 1], repeat=n)), dtype=float)


def test_attributes_are_those_of_bernoulli_rbm(small):
    rbm, W, a, b = small
    np.testing.assert_allclose(rbm.components_, W.T, rtol=1e-6)
    np.testing.assert_allclose(rbm.intercept_visible_, a, rtol=1e-6)
    np.testing.assert_allclose(rbm.intercept_hidden_, b, rtol=1e-6)


def test_transform_and_free_energy_follow_their_formulas(small):
    rbm, W, a, b = small
    v = all_states(6)
    np.testing.assert_allclose(rbm.transform(v), 1 / (1 + np.exp(-(v @ W + b))), atol=1e-6)
    np.testing.assert_allclose(rbm.free_energy(v), free_energy(v, W, a, b), rtol=1e-5, atol=1e-5)


def test_score_samples_is_a_conditional_of_one_unit(small):
    rbm, W, a, b = small
    v = all_states(6)
    f = free_energy(v, W, a, b)
    conditionals = []  # 6 log p(v_i | rest) for every i
    for i in range(6):
        flipped = v.copy()
        flipped[:, i] = 1 - v[:, i]
        conditionals.append(-6 * np.logaddexp(0, f - free_energy(flipped, W, a, b)))
    distance = np.abs(np.array(conditionals) - rbm.score_samples(v)).min(axis=0)
    assert distance.max() < 1e-4
    # Different rows ask different units.
    nearest = np.abs(np.array(conditionals) - rbm.score_samples(v)).argmin(axis=0)
    assert len(set(nearest)) == 6


def test_log_likelihood_is_that_of_enumeration(small):
    rbm, W, a, b = small
    v = all_states(6)
    log_f = -free_energy(v, W, a, b)
    log_z = np.logaddexp.reduce(log_f)
    estimate = rbm.log_likelihood(v)
    assert estimate.kind == "exact" and estimate.n == 64
    assert estimate.value == pytest.approx(np.mean(log_f) - log_z, abs=1e-4)
    assert estimate.interval[0] == estimate.value == estimate.interval[1] == float(estimate)
    assert rbm.log_z().value == pytest.approx(log_z, abs=1e-4)


def test_an_estimate_that_is_not_trusted_is_a_bracket_without_an_interval(small):
    rbm, v = small[0], all_states(6)
    exact = rbm.log_likelihood(v)
    assert exact.trusted and exact.bracket == (exact.value, exact.value)
    few = rbm.log_likelihood(v, method="ais", chains=5, betas=10)
    assert not few.trusted and few.interval is None and few.log_z.interval is None
    assert few.bracket == (None, few.value)
    assert "at most" in str(few) and "not trusted: from " in str(few)


def test_a_sandwich_has_bounds_and_a_verdict(small):
    rbm, W, a, b = small
    v = all_states(6)
    log_z = np.logaddexp.reduce(-free_energy(v, W, a, b))
    estimate = rbm.log_likelihood(v, method="sandwich", betas=300, chains=200)
    assert estimate.kind == "estimate" and estimate.verdict
    # Intervals of 95 %; ten times their width is out of chance's reach.
    width = estimate.log_z.interval[1] - estimate.log_z.interval[0]
    assert abs(estimate.log_z.value - log_z) < 5 * width
    assert estimate.lower is not None and estimate.upper_log_z is not None


def test_gibbs_draws_from_the_conditionals(small):
    rbm, W, a, b = small
    # Given all hidden units' probabilities near certainty the way back is known.
    sure = RBM.from_arrays(np.zeros((6, 4)), np.array([30, -30, 30, -30, 30, -30]), np.zeros(4))
    assert (sure.gibbs(np.zeros((5, 6))) == [1, 0, 1, 0, 1, 0]).all()
    # One step from every state, started at the model's distribution, leaves it as it is. 20000 rows: the standard
    # error of a mean is at most 0.0036; six of them are passed by chance less than once in 10^8 for 6 units.
    v = all_states(6)
    p = np.exp(-free_energy(v, W, a, b))
    p /= p.sum()
    rows = v[np.random.RandomState(0).choice(64, 20000, p=p)]
    rbm.random_state = 0
    assert np.abs(rbm.gibbs(rows, n_steps=2).mean(axis=0) - p @ v).max() < 6 * 0.0036


def test_samples_are_those_of_the_distribution(small):
    rbm, W, a, b = small
    v = all_states(6)
    p = np.exp(-free_energy(v, W, a, b))
    p /= p.sum()
    drawn = rbm.sample(20000, sweeps=100, random_state=1)
    assert np.abs(drawn.mean(axis=0) - p @ v).max() < 6 * 0.0036  # as above
    assert (rbm.sample(3, random_state=1) == rbm.sample(3, random_state=1)).all()
    assert rbm.sample(2, means=True, random_state=1).max() <= 1


def test_fitting_raises_the_likelihood(bits):
    start = RBM(n_components=8, updates=1, random_state=0).fit(bits).log_likelihood(bits)
    end = RBM(n_components=8, updates=2000, random_state=0).fit(bits).log_likelihood(bits)
    assert end.value > start.value + 1
    assert end.value < 0


def test_n_iter_counts_passes_over_the_data(bits):
    assert RBM(n_iter=4, batch_size=50, random_state=0).fit(bits).n_updates_ == 4 * 300 // 50
    with pytest.raises(ValueError, match="n_iter"):
        RBM(n_iter=0).fit(bits)


def test_every_kind_of_array_gives_the_same_model(bits):
    import scipy.sparse as sparse

    models = [
        RBM(n_components=5, updates=50, random_state=3).fit(X).components_
        for X in (
            bits,
            bits.astype(np.float32),
            bits.astype(np.uint8),
            bits.astype(bool),
            bits.astype(int),
            np.asfortranarray(bits),
            bits[::-1][::-1],
            sparse.csr_matrix(bits),
            sparse.csc_matrix(bits),
            bits.tolist(),
        )
    ]
    for each in models[1:]:
        np.testing.assert_array_equal(models[0], each)


def test_bytes_are_gray_values(digits):
    X = digits[0][:200]
    gray = np.round(X * 255).astype(np.uint8)
    first = RBM(n_components=5, updates=50, random_state=3, binarize="none").fit(gray)
    second = RBM(n_components=5, updates=50, random_state=3, binarize="none").fit((gray / 255).astype(np.float32))
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-5)
    np.testing.assert_allclose(first.transform(gray), second.transform(gray / 255), atol=1e-5)


def test_sparse_rows_are_taken_some_at_a_time(bits, monkeypatch):
    import scipy.sparse as sparse

    rbm = RBM(n_components=5, updates=50, random_state=3).fit(bits)
    monkeypatch.setattr(harmonium._estimator, "_SPARSE_ROWS", 70)
    gray = sparse.csr_matrix(bits * 0.5)
    np.testing.assert_allclose(rbm.transform(gray), rbm.transform(bits * 0.5), atol=1e-6)
    np.testing.assert_allclose(rbm.score_samples(sparse.csr_matrix(bits)), rbm.score_samples(bits), atol=1e-6)


def test_bytes_that_are_bits_stay_bits_in_a_model_of_a_file(bits, tmp_path):
    rbm = RBM(n_components=5, updates=50, random_state=3).fit(bits)
    rbm.save(tmp_path / "model.safetensors")
    other = RBM.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(other.transform(bits.astype(np.uint8)), rbm.transform(bits), atol=1e-6)


def test_arrays_are_shared_and_not_written_to(bits):
    for type_ in (np.float32, np.float64, np.uint8, bool):
        X = bits.astype(type_)
        assert np.shares_memory(harmonium._core.Table(X).numpy(), X)
        before = X.copy()
        X.flags.writeable = False
        RBM(n_components=3, updates=20).fit(X).partial_fit(X)
        np.testing.assert_array_equal(X, before)


def test_parameters_can_be_set(small):
    rbm = RBM.from_arrays(*small[1:])
    rbm.components_ = np.zeros((4, 6))
    rbm.intercept_hidden_ = np.zeros(4)
    assert (rbm.transform(np.ones((1, 6))) == 0.5).all()
    with pytest.raises(ValueError, match="shape"):
        rbm.components_ = np.zeros((3, 6))
    with pytest.raises(AttributeError, match="from_arrays"):
        RBM().components_ = np.zeros((3, 6))


def test_partial_fit_keeps_its_chains(bits):
    rbm = RBM(n_components=5, batch_size=50, gradient="pcd", random_state=0)
    rbm.partial_fit(bits[:50])
    before = rbm.h_samples_.copy()
    rbm.partial_fit(bits[50:100])
    assert before.shape == rbm.h_samples_.shape == (50, 5)
    assert (before != rbm.h_samples_).any()
    assert rbm.n_updates_ == 2
    rbm.partial_fit(bits[:7])  # a batch of another size
    assert rbm.h_samples_.shape == (50, 5)


def test_fit_begins_anew_and_partial_fit_goes_on(bits):
    rbm = RBM(n_components=5, updates=30, random_state=0)
    first = rbm.fit(bits).components_.copy()
    rbm.partial_fit(bits[:50])
    assert rbm.n_updates_ == 31 and (rbm.components_ != first).any()
    np.testing.assert_array_equal(rbm.fit(bits).components_, first)


def test_the_tool_trains_the_same_model(bits, tool, tmp_path):
    np.save(tmp_path / "bits.npy", bits.astype(np.uint8))
    tool(
        "train", "--data", tmp_path / "bits.npy", "--hidden", 7, "--updates", 60, "--seed", 11, "--threads", 1,
        "--valid", "none", "--out", tmp_path / "run",
    )  # fmt: skip
    theirs = harmonium.load(tmp_path / "run")
    ours = RBM(n_components=7, updates=60, random_state=11, n_threads=1).fit(bits.astype(np.uint8))
    np.testing.assert_array_equal(theirs.components_, ours.components_)
    np.testing.assert_array_equal(theirs.intercept_visible_, ours.intercept_visible_)


def test_gaussian_units_are_taken_for_other_values_and_a_warning_says_so():
    rng = np.random.RandomState(0)
    X = rng.normal(3, 2, (400, 5))
    with pytest.warns(UserWarning, match="gaussian"):
        rbm = RBM(n_components=3, updates=300, random_state=0).fit(X)
    assert rbm.options_["visible"] == "gaussian:5" and rbm.precision_visible_.shape == (5,)
    # Independent normal numbers: the pseudo-likelihood is the likelihood, 5 · (−½ log(2π e σ²)); one unit of each of
    # 400 rows has a standard error of 5 · √½ / 20 = 0.18.
    expected = -2.5 * np.log(2 * np.pi * np.e * 4)
    assert rbm.score(X) == pytest.approx(expected, abs=1.0)


def test_history_is_kept_where_asked_for(bits):
    rbm = RBM(n_components=4, updates=50, monitor=True, log_every=10, random_state=0).fit(bits)
    assert [line["update"] for line in rbm.history_] == [0, 10, 20, 30, 40, 50]
    assert "pseudo_log_likelihood" in rbm.history_[-1]
    assert RBM(n_components=4, updates=50).fit(bits).history_ == []


def test_verbose_prints_lines_where_nobody_watches(bits, capsys):
    RBM(n_components=4, updates=50, verbose=1).fit(bits)
    assert "[RBM] Iteration" in capsys.readouterr().out


@pytest.mark.parametrize("visible", ["softmax:3", "softmax:2x3"])
def test_arrays_of_one_hot_groups_give_probabilities_that_sum_to_one(visible):
    W, a, b = np.random.default_rng(5).normal(size=(6, 2)), np.arange(6) / 5, np.array([0.3, -0.2])
    rbm = RBM.from_arrays(W, a, b, visible=visible)
    rows = np.array([[*np.eye(3)[i], *np.eye(3)[j]] for i in range(3) for j in range(3)])
    # log f(v) = a·v + Σ_j log(1 + e^(b_j + v·W_j)), and Z is the sum over the nine rows there are.
    log_f = rows @ a + np.log1p(np.exp(rows @ W + b)).sum(axis=1)
    log_z = np.log(np.exp(log_f).sum())
    assert rbm.log_z().value == pytest.approx(log_z, abs=1e-5)
    np.testing.assert_allclose(-rbm.free_energy(rows), log_f, atol=1e-5)


def test_arrays_that_do_not_divide_into_groups_are_refused():
    with pytest.raises(ValueError, match="groups of 4"):
        RBM.from_arrays(np.zeros((6, 2)), np.zeros(6), np.zeros(2), visible="softmax:4")
    with pytest.raises(ValueError, match="softmax:3x4"):
        RBM.from_arrays(np.zeros((6, 2)), np.zeros(6), np.zeros(2), visible="softmax:3x4")
