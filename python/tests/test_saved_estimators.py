"""What an estimator knows beside its model comes back from its file."""

import numpy as np
import pytest
from sklearn.base import clone

import harmonium
from harmonium import DBN, ClassificationRBM, RBM


def fitted_classifier(bits, labels, **parameters):
    return ClassificationRBM(n_components=6, updates=150, objective="hybrid", random_state=0, **parameters).fit(bits, labels)


@pytest.mark.parametrize("names", [["zero", "one"], [8, 3], [2.0, -1.0], [False, True]], ids=["text", "int", "float", "bool"])
def test_a_saved_classifier_keeps_its_labels(bits, names, tmp_path):
    labels = np.array(names)[(bits[:, :4].sum(axis=1) > 2).astype(int)]
    model = fitted_classifier(bits, labels)
    model.save(tmp_path / "model.safetensors")
    other = harmonium.load(tmp_path / "model.safetensors")
    assert other.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(other.classes_, model.classes_)
    np.testing.assert_array_equal(other.predict(bits), model.predict(bits))
    assert other.score(bits, labels) == model.score(bits, labels) > 0.9


def test_labels_that_no_file_can_hold_are_refused(bits, tmp_path):
    model = fitted_classifier(bits, (bits[:, 0] > 0).astype(int))
    model.classes_ = np.empty(2, dtype=object)
    model.classes_[:] = [b"a", b"b"]
    with pytest.raises(ValueError, match="pickle"):
        model.save(tmp_path / "model.safetensors")


def test_parameters_updates_and_history_come_back(bits, tmp_path):
    model = RBM(7, learning_rate=0.02, n_iter=2, batch_size=30, monitor=True, log_every=5, image_shape=(3, 4), random_state=3)
    model.fit(bits).save(tmp_path / "model.safetensors")
    other = RBM.load(tmp_path / "model.safetensors")
    assert other.get_params() == model.get_params()
    assert other.n_updates_ == model.n_updates_ == 20
    assert other.history_ == model.history_ and len(model.history_) > 2
    np.testing.assert_array_equal(clone(other).fit(bits).components_, model.components_)


def test_a_loaded_model_counts_on(bits, tmp_path):
    RBM(n_components=5, updates=20, random_state=0).fit(bits).save(tmp_path / "model.safetensors")
    other = harmonium.load(tmp_path / "model.safetensors").partial_fit(bits[:50]).partial_fit(bits[50:90])
    assert other.n_updates_ == 22


def test_layers_of_a_stack_come_back(bits, tmp_path):
    DBN(layers=(5, 4), updates=10, random_state=0).fit(bits).save(tmp_path / "model.safetensors")
    assert harmonium.load(tmp_path / "model.safetensors").layers == (5, 4)


def test_names_of_features_come_back(bits, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(bits, columns=[f"pixel {i}" for i in range(12)])
    RBM(n_components=3, updates=10, random_state=0).fit(frame).save(tmp_path / "model.safetensors")
    other = harmonium.load(tmp_path / "model.safetensors")
    assert list(other.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        other.transform(frame[frame.columns[::-1]])


def test_bytes_stay_gray(bits, tmp_path):
    gray = (bits * 200).astype(np.uint8)
    model = RBM(n_components=3, updates=20, random_state=0).fit(gray)
    model.save(tmp_path / "model.safetensors")
    dark = np.ones((2, 12), dtype=np.uint8)  # almost black, not white
    np.testing.assert_array_equal(harmonium.load(tmp_path / "model.safetensors").transform(dark), model.transform(dark))


def test_a_run_folder_tells_its_options(tool, tmp_path):
    tool("train", "--data", "digits", "--limit", 100, "--hidden", 8, "--updates", 30, "--batch", 25, "--seed", 4,
         "--log-every", 10, "--keep", "last", "--out", tmp_path / "run")  # fmt: skip
    model = harmonium.load(tmp_path / "run")
    assert (model.n_components, model.batch_size, model.updates, model.random_state) == (8, 25, 30, 4)
    assert [line["update"] for line in model.history_] == [0, 10, 20, 30]
    assert model.n_updates_ == 30
    X, _ = harmonium.load_digits()
    assert model.partial_fit(X[:25]).n_updates_ == 31


def test_a_models_file_of_the_tool_tells_its_layers(tool, tmp_path):
    tool("train", "--data", "digits", "--limit", 100, "--hidden", 8, "--updates", 5, "--out", tmp_path / "run")
    assert harmonium.load(tmp_path / "run" / "model.safetensors").n_components == 8


def test_the_tool_shows_classes_and_not_our_notes(bits, tool, tmp_path):
    fitted_classifier(bits, np.where(bits[:, 0] > 0, "yes", "no")).save(tmp_path / "model.safetensors")
    shown = tool("models", "show", tmp_path / "model.safetensors")
    assert '["no", "yes"]' in shown and "parameters\":" not in shown


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"parameters": 3}', '{"parameters": {}, "classes_type": "O O"}'])
def test_damaged_notes_are_refused_with_the_file(bits, note, tmp_path):
    model = fitted_classifier(bits, (bits[:, 0] > 0).astype(int))
    model.model_.save(str(tmp_path / "model.safetensors"), {"python": note, "classes": "[0, 1]"})
    with pytest.raises(ValueError, match="model.safetensors.*damaged"):
        harmonium.load(tmp_path / "model.safetensors")
