import os
import subprocess

import numpy as np
import pytest

import harmonium


@pytest.fixture(scope="session")
def digits():
    return harmonium.load_digits()


@pytest.fixture(scope="session")
def bits():
    """Rows of 12 bits with structure: bars of a 3 × 4 picture, some bits flipped."""
    rng = np.random.RandomState(0)
    picture = np.repeat(rng.rand(300, 3, 1) < 0.4, 4, axis=2).reshape(300, 12)
    return (picture ^ (rng.rand(300, 12) < 0.05)).astype(np.float64)


@pytest.fixture(scope="session")
def tool():
    """The tool, as a function of its arguments."""
    binary = os.environ.get("HARMONIUM_BINARY")
    if not binary:
        pytest.skip("HARMONIUM_BINARY does not name the tool")

    def run(*arguments):
        return subprocess.run([binary, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    return run
