"""What one expects of an object in Python: copies, pickles, threads, interruptions, and errors that say what is wrong."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import harmonium
from harmonium import DBM, DBN, ClassificationRBM, RBM


def fitted(bits):
    labels = bits[:, 0].astype(int)
    return [
        RBM(n_components=4, updates=30, random_state=0).fit(bits),
        ClassificationRBM(n_components=4, updates=30, random_state=0).fit(bits, labels),
        DBN(layers=(4, 3), updates=30, random_state=0).fit(bits),
        DBM(layers=(4, 3), updates=30, particles=20, random_state=0).fit(bits),
    ]


def test_pickles_and_copies_answer_alike_and_learn_on_alike(bits):
    for model in fitted(bits):
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            np.testing.assert_array_equal(model.transform(bits), other.transform(bits))
            assert other.n_updates_ == model.n_updates_
    model = fitted(bits)[0]
    other = pickle.loads(pickle.dumps(model))
    for _ in range(3):
        model.partial_fit(bits[:40])
        other.partial_fit(bits[:40])
    np.testing.assert_array_equal(model.components_, other.components_)
    np.testing.assert_array_equal(model.h_samples_, other.h_samples_)


def test_clones_have_the_parameters_and_nothing_else(bits):
    for model in fitted(bits):
        other = clone(model)
        assert other.get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            other.transform(bits)


def test_defaults_are_those_of_the_library():
    options = {name: default for name, default, _ in harmonium._core.run_options()}
    parameters = RBM().get_params()
    assert str(parameters.pop("n_components")) == options["hidden"]
    assert parameters.pop("batch_size") is None  # the library's, or scikit-learn's: see test_limits.py
    for name in set(parameters) & set(options):
        assert parameters[name] == options[name], name
    assert "rate_weights" in parameters and options["rate_weights"] == 0


def test_parameters_that_do_not_exist_are_refused():
    with pytest.raises(TypeError, match="RBM"):
        RBM(n_hidden=3)
    with pytest.raises(ValueError, match="Invalid parameter"):
        RBM().set_params(n_hidden=3)


def test_works_in_a_pipeline_and_a_grid_search(digits):
    X, y = digits
    pipeline = make_pipeline(RBM(updates=500, random_state=0), LogisticRegression(max_iter=200))
    search = GridSearchCV(pipeline, {"rbm__n_components": [1, 30]}, cv=2).fit(X[:300], y[:300])
    assert search.best_params_ == {"rbm__n_components": 30}
    alone = GridSearchCV(RBM(updates=50, random_state=0), {"optimizer": ["sgd", "fang"]}, cv=2).fit(X[:300])
    assert np.isfinite(alone.best_score_)


INTERRUPTED = """
import os, signal, threading, numpy as np, harmonium
X = (np.random.RandomState(0).rand(500, 40) < 0.3).astype(np.float32)
model = {model}
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit({arguments})
    print("finished")
except KeyboardInterrupt:
    print("interrupted", 0 < model.n_updates_ < 10**9, np.isfinite(model.transform(X)).all(), flush=True)
    if hasattr(model, "partial_fit"):
        model.partial_fit({arguments})
"""


@pytest.mark.parametrize(
    "model, arguments",
    [
        ("harmonium.RBM(n_components=20, updates=10**9)", "X"),
        ("harmonium.RBM(n_components=20, updates=10**9, verbose=1)", "X"),
        ("harmonium.DBN(layers=(20, 10), updates=10**9)", "X"),
        ("harmonium.DBM(layers=(20, 10), updates=10**9, pretrain='rbm')", "X"),
        ("harmonium.DBM(layers=(20, 10), updates=10**9)", "X"),
    ],
)
def test_an_interrupted_fit_leaves_a_usable_estimator(model, arguments):
    program = INTERRUPTED.format(model=model, arguments=arguments)
    if "pretrain" in model:  # whose first layer is not done: the machine is as it began
        program = program.replace("0 < model.n_updates_", "0 <= model.n_updates_")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "interrupted True True" in result.stdout, result.stdout + result.stderr
    assert result.returncode == 0, result.stderr


def test_an_estimate_can_be_interrupted():
    rbm = RBM.from_arrays(np.ones((40, 40)) * 0.1, np.zeros(40), np.zeros(40))
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        rbm.log_likelihood(np.eye(40), method="ais", betas=10**6, chains=1000)
    assert rbm.transform(np.eye(40)).shape == (40, 40)


def test_what_a_callback_raises_comes_through(bits):
    learner = harmonium._core.Learner({"updates": 10**9, "hidden": 3}, harmonium._core.Data(harmonium._core.Table(bits), 1.0))

    def stop(*_):
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        learner.learn(1, False, stop)
    assert learner.update > 0 and learner.model().hidden_width == 3


def test_the_interpreter_is_free_while_a_fit_runs():
    """A second thread makes progress while the first is in one call that would never end."""
    X = (np.random.RandomState(0).rand(100, 20) < 0.3).astype(np.float32)
    model, seen = RBM(n_components=5, updates=10**9, n_threads=1), []

    def watch():
        for i in range(1000):
            seen.append(i)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.2, watch).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert len(seen) == 1000


def test_threads_train_as_if_alone(bits):
    alone = [RBM(n_components=6, updates=100, random_state=i, n_threads=1).fit(bits).components_ for i in range(6)]
    with ThreadPoolExecutor(4) as pool:
        together = list(
            pool.map(lambda i: RBM(n_components=6, updates=100, random_state=i, n_threads=1).fit(bits).components_, range(6))
        )
    for first, second in zip(alone, together):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_trains_as_if_alone(bits, backend):
    joblib = pytest.importorskip("joblib")
    models = [RBM(n_components=6, updates=50, random_state=i, n_threads=1) for i in range(4)]
    alone = [clone(model).fit(bits).components_ for model in models]
    together = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(model.fit)(bits) for model in models)
    for first, second in zip(alone, together):
        np.testing.assert_array_equal(first, second.components_)


def test_one_estimator_answers_many_threads(bits):
    model = RBM(n_components=6, updates=50, random_state=0).fit(bits)
    expected = model.transform(bits)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: model.transform(bits), range(20)):
            np.testing.assert_array_equal(found, expected)


def test_threads_of_the_caller_come_back(bits):
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    RBM(n_components=4, updates=5, n_threads=before + 1).fit(bits)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    "parameters, error, words",
    [
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1"),
        ({"updates": 0}, ValueError, "updates must be at least 1"),
        ({"updates": 2.5}, TypeError, "updates must be an integer"),
        ({"updates": "many"}, TypeError, "updates must be an integer"),
        ({"learning_rate": -1}, ValueError, "rate_weights"),
        ({"learning_rate": "fast"}, TypeError, "rate_weights must be a number"),
        ({"n_components": 0}, ValueError, "n_components"),
        ({"n_components": "many"}, ValueError, "n_components"),
        ({"optimizer": "adamx"}, ValueError, "unknown optimizer 'adamx'; there are"),
        ({"gradient": "nce"}, ValueError, "nce"),
        ({"visible": "softmax"}, ValueError, "softmax"),
        ({"binarize": "yes"}, ValueError, "threshold, stochastic, dequantized or levels"),
        ({"schedule": "cosine"}, ValueError, "cosine"),
        ({"device": "tpu"}, ValueError, "tpu"),
        ({"image_shape": (3, 3, 3)}, TypeError, "image"),
    ],
)
def test_bad_parameters_are_explained(bits, parameters, error, words):
    with pytest.raises(error, match=words) as raised:
        RBM(**parameters).fit(bits)
    assert "--" not in str(raised.value)  # flags are the tool's


def test_bad_data_are_explained(bits):
    with pytest.raises(ValueError, match="NaN"):
        RBM().fit(np.where(bits > 0, np.nan, 0))
    with pytest.raises(ValueError, match=r"row 0, column 0 holds 2"):
        RBM(visible="bernoulli").fit(bits + 2)
    with pytest.raises(ValueError, match="array"):
        RBM().fit(bits[0])
    with pytest.raises(ValueError):
        RBM().fit([["a", "b"]])
    with pytest.raises(ValueError, match="features"):
        RBM(updates=5).fit(bits).transform(bits[:, :5])
    with pytest.raises(ValueError, match=r"row .* holds 2"):
        RBM(updates=5, visible="bernoulli").fit(bits).partial_fit(bits * 2)
    with pytest.raises(ValueError, match="unknown method"):
        RBM(updates=5).fit(bits).log_likelihood(bits, method="magic")
    with pytest.raises(TypeError, match="unknown"):
        RBM(updates=5).fit(bits).log_likelihood(bits, chain=3)
    with pytest.raises(ValueError, match="labels"):
        ClassificationRBM(updates=5).fit(bits, np.zeros(3))


def test_divergence_is_a_run_failure(bits):
    model = RBM(n_components=4, optimizer="sgd", learning_rate=1e6, updates=1000)
    with pytest.raises(harmonium.RunFailure, match="diverged at update"):
        model.fit(bits)
    assert issubclass(harmonium.RunFailure, RuntimeError)
    with pytest.raises(NotFittedError):
        model.transform(bits)


def test_torch_tensors_come_in_and_go_out(bits):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(bits, dtype=torch.float32)
    model = RBM(n_components=4, updates=30, random_state=0).fit(tensor)
    other = RBM(n_components=4, updates=30, random_state=0).fit(bits)
    np.testing.assert_array_equal(model.components_, other.components_)
    hidden = model.transform(tensor)
    assert isinstance(hidden, torch.Tensor) and hidden.dtype == torch.float32
    np.testing.assert_array_equal(hidden.numpy(), other.transform(bits.astype(np.float32)))
    assert isinstance(model.gibbs(tensor), torch.Tensor)
    assert isinstance(model.score_samples(tensor), torch.Tensor)
    model.fit(tensor.requires_grad_())
    if torch.cuda.is_available():
        assert model.transform(tensor.cuda()).device.type == "cuda"


def test_torch_is_not_imported_for_those_who_do_not_use_it():
    program = (
        "import sys, numpy as np, harmonium\n"
        "harmonium.RBM(n_components=2, updates=5).fit(np.eye(4)).transform(np.eye(4))\n"
        "assert 'torch' not in sys.modules\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_torch_before_and_after_share_one_library():
    pytest.importorskip("torch")
    for order in ("import torch, harmonium", "import harmonium, torch"):
        program = (
            f"{order}\nimport numpy as np\n"
            "h = harmonium.RBM(n_components=2, updates=5).fit(np.eye(4)).transform(torch.eye(4))\n"
            "assert h.shape == (4, 2)\n"
            "libraries = {line.split()[-1] for line in open('/proc/self/maps') if 'libtorch_cpu' in line}\n"
            "assert len(libraries) == 1, libraries\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True)
