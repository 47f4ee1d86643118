"""Models in files: ours, the tool's, and those of other packages."""

import numpy as np
import pytest

import harmonium
from harmonium import DBM, DBN, ClassificationRBM, RBM


def test_models_come_back_as_they_were(bits, tmp_path):
    labels = bits[:, 0].astype(int)
    for model in (
        RBM(n_components=4, updates=20, random_state=0).fit(bits),
        ClassificationRBM(n_components=4, updates=20, random_state=0).fit(bits, labels),
        DBN(layers=(4, 3), updates=20, random_state=0).fit(bits),
        DBM(layers=(4, 3), updates=20, particles=20, random_state=0).fit(bits),
    ):
        model.save(tmp_path / "model.safetensors")
        for other in (harmonium.load(tmp_path / "model.safetensors"), type(model).load(tmp_path / "model.safetensors")):
            assert type(other) is type(model)
            np.testing.assert_array_equal(other.transform(bits), model.transform(bits))
            assert other.n_updates_ == 20
    with pytest.raises(ValueError, match="'dbm'"):
        RBM.load(tmp_path / "model.safetensors")


def test_a_loaded_rbm_learns_on(bits, tmp_path):
    model = RBM(n_components=4, updates=20, random_state=0).fit(bits)
    model.save(tmp_path / "model.safetensors")
    other = RBM.load(tmp_path / "model.safetensors")
    before = other.components_.copy()
    other.set_params(n_components=4, learning_rate=1e-6, batch_size=10).partial_fit(bits[:10])
    np.testing.assert_allclose(other.components_, before, atol=1e-3)


def test_the_tool_reads_what_we_write_and_agrees(bits, tool, tmp_path):
    import json

    model = RBM(n_components=4, updates=50, random_state=0).fit(bits)
    model.save(tmp_path / "model.safetensors")
    np.save(tmp_path / "bits.npy", bits.astype(np.uint8))
    answer = json.loads(tool("evaluate", tmp_path / "model.safetensors", "--data", tmp_path / "bits.npy", "--json"))
    assert answer["log_likelihood"]["value"] == pytest.approx(model.log_likelihood(bits).value, abs=1e-6)
    tool("sample", tmp_path / "model.safetensors", "-n", 5, "--sweeps", 20, "--seed", 7, "--out", tmp_path / "drawn.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "drawn.npy"), model.sample(5, sweeps=20, random_state=7))


@pytest.mark.parametrize("layout", harmonium.importers.LAYOUTS.values(), ids=harmonium.importers.LAYOUTS)
@pytest.mark.parametrize("kind", ["npz", "mat"])
def test_layouts_of_others_are_read(layout, kind, tmp_path):
    from scipy.io import savemat

    rng = np.random.RandomState(0)
    W, a, b = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3)
    weights, visible, hidden, hidden_first = layout
    arrays = {weights: W.T if hidden_first else W, visible: a[None], hidden: b[None]}
    path = tmp_path / f"model.{kind}"
    savemat(path, arrays) if kind == "mat" else np.savez(path, **arrays)
    model = harmonium.load(path)
    np.testing.assert_allclose(model.components_, W.T, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_visible_, a, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_hidden_, b, rtol=1e-6)


def test_structs_of_matlab_are_looked_into(tmp_path):
    from scipy.io import savemat

    W = np.arange(6.0).reshape(2, 3)
    savemat(tmp_path / "model.mat", {"rbm": {"W": W, "b": np.zeros((3, 1)), "c": np.zeros((2, 1))}})
    np.testing.assert_array_equal(harmonium.load(tmp_path / "model.mat").components_, W)


def test_files_that_are_no_models_are_explained(tmp_path):
    np.savez(tmp_path / "other.npz", X=np.zeros(3))
    with pytest.raises(ValueError, match="no layout fits"):
        harmonium.load(tmp_path / "other.npz")
    np.savez(tmp_path / "wrong.npz", W=np.zeros((3, 2)), vbias=np.zeros(4), hbias=np.zeros(2))
    with pytest.raises(ValueError, match="4 visible biases"):
        harmonium.load(tmp_path / "wrong.npz")
    (tmp_path / "text.safetensors").write_text("hello")
    with pytest.raises(ValueError, match="text.safetensors"):
        harmonium.load(tmp_path / "text.safetensors")
    with pytest.raises(ValueError, match="nowhere"):
        harmonium.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="nowhere.npz"):
        harmonium.load(tmp_path / "nowhere.npz")
    with pytest.raises(ValueError, match="visible biases must be 3"):
        RBM.from_arrays(np.zeros((3, 2)), np.zeros(2), np.zeros(2))


def test_pictures_are_arrays_or_figures(digits):
    X, _ = digits
    rbm = RBM(n_components=9, updates=20, monitor=True, random_state=0).fit(X)
    assert harmonium.plots.filters(rbm, n=9, as_array=True).shape == (26, 26)
    assert harmonium.plots.samples(rbm, n=4, sweeps=5, random_state=0, as_array=True).shape == (17, 17)
    assert set(harmonium.plots.curves(rbm, as_array=True)) >= {"update", "reconstruction_error"}
    with pytest.raises(ValueError, match="no square"):
        harmonium.plots.tile(np.zeros((2, 10)))
    pytest.importorskip("matplotlib")
    for figure in (harmonium.plots.filters(rbm), harmonium.plots.curves(rbm)):
        assert "Figure" in [each.__name__ for each in type(figure).__mro__]
