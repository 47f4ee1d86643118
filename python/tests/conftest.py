import ctypes
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

    # Where OpenBLAS does not know the processor, the tool chooses other kernels than this process has, which round
    # differently. Here it is to have the same.
    environment = dict(os.environ)
    try:
        blas = ctypes.CDLL("libopenblas.so.0")
        blas.openblas_get_corename.restype = ctypes.c_char_p
        environment.setdefault("OPENBLAS_CORETYPE", blas.openblas_get_corename().decode())
    except (OSError, AttributeError):
        pass

    def run(*arguments):
        command = [binary, *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

    return run
