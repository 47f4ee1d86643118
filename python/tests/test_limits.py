"""Data that are no numbers, memory that is not there, processes that are forked, and pictures in notebooks."""

import subprocess
import sys

import numpy as np
import pytest

import harmonium
from harmonium import RBM


def test_masked_values_are_refused(bits):
    masked = np.ma.masked_array(bits, mask=bits > 2)
    RBM(n_components=2, updates=2).fit(masked)
    masked[3, 4] = np.ma.masked
    with pytest.raises(ValueError, match="1 masked value"):
        RBM(n_components=2, updates=2).fit(masked)


def test_dates_are_refused():
    dates = np.zeros((5, 3), dtype="datetime64[s]")
    with pytest.raises(ValueError, match="dates"):
        RBM(n_components=2, updates=2).fit(dates)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="dates"):
        RBM(n_components=2, updates=2).fit(pandas.DataFrame({"when": dates[:, 0], "x": np.zeros(5)}))


def test_damaged_files_of_others_are_value_errors(tmp_path):
    from scipy.io import savemat

    arrays = {"vishid": np.zeros((5, 3)), "visbiases": np.zeros(5), "hidbiases": np.zeros(3)}
    for name, write in (("theirs.mat", savemat), ("theirs.npz", lambda path, all: np.savez(path, **all))):
        path = tmp_path / name
        write(path, arrays)
        whole = path.read_bytes()
        outcomes = set()
        for place in range(0, len(whole), max(1, len(whole) // 60)):
            for damaged in (whole[:place], whole[:place] + b"\xff" + whole[place + 1 :], whole[:place] + b"\0\0\0\0" + whole[place + 4 :]):
                path.write_bytes(damaged)
                try:
                    harmonium.load(path)
                    outcomes.add("read")
                except ValueError as error:
                    assert name in str(error) or "from_arrays" in str(error)
                    outcomes.add("refused")
        assert "refused" in outcomes


def test_memory_that_is_not_there_is_a_memory_error(bits):
    model = RBM(n_components=3, updates=2, random_state=0).fit(bits)
    with pytest.raises(MemoryError, match="not enough memory"):
        model.sample(10**15, sweeps=1)


def test_a_training_that_cannot_fit_is_refused_before_it_begins(bits):
    with pytest.raises(ValueError, match="n_components need less"):
        RBM(n_components=10**9, updates=2).fit(bits)


def test_the_child_of_a_fork_learns_with_one_thread():
    script = """
import os, numpy as np, harmonium
X = np.random.RandomState(0).rand(1000, 64) < 0.3
def fit():
    return harmonium.RBM(n_components=300, updates=3, batch_size=1000, n_threads=2, random_state=0).fit(X)
harmonium.set_num_threads(2)
fit()
child = os.fork()
if child == 0:
    fit().transform(X)
    os._exit(0 if harmonium.get_num_threads() == 1 else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert harmonium.get_num_threads() == 2
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_batches_are_small_where_parameters_are_those_of_bernoulli_rbm(bits):
    def batch(**parameters):
        return int(RBM(n_components=2, **parameters).fit(bits).options_["batch"])

    assert batch(updates=2) == 100
    assert batch(updates=2, learning_rate=0.01) == 10
    assert batch(n_iter=1) == 10
    assert batch(n_iter=1, batch_size=50) == 50
    assert RBM(n_components=2, n_iter=1).fit(bits).n_updates_ == 30


def test_figures_show_themselves_and_draw_where_they_are_told(bits):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    model = RBM(n_components=4, updates=10, random_state=0, monitor=True, image_shape=(3, 4)).fit(bits)
    for figure in (harmonium.plots.filters(model), harmonium.plots.samples(model, 4), harmonium.plots.curves(model)):
        assert figure._repr_png_().startswith(b"\x89PNG")
    own = Figure()
    axes = own.subplots(1, 2)
    assert harmonium.plots.filters(model, ax=axes[0]) is own
    assert harmonium.plots.samples(model, 4, ax=axes[1], random_state=0) is own
    assert "hidden units" in axes[0].get_title() and "samples" in axes[1].get_title()


def test_an_estimate_is_a_table_in_notebooks(bits):
    model = RBM(n_components=4, updates=10, random_state=0).fit(bits)
    page = model.log_likelihood(bits)._repr_html_()
    assert "exact" in page and "nats per row" in page and "log Z" in page
    page = harmonium.Estimate(-1.5, "estimate", "AIS <1>", (-2.0, -1.0), verdict="a & b")._repr_html_()
    assert "[-2, -1]" in page and "AIS &lt;1&gt;" in page and "a &amp; b" in page
    assert "too few" in harmonium.Estimate(-1.5, "estimate", "AIS")._repr_html_()
    page = harmonium.Estimate(-1.5, "estimate", "AIS", trusted=False, remark="between -3 and -1")._repr_html_()
    assert "between -3 and -1" in page and "-1.5" not in page
