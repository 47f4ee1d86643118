"""The package in other places than the build tree."""

import os
import pathlib
import subprocess
import sys

import pytest

HOME = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("HARMONIUM_BUILD")
pytestmark = pytest.mark.skipif(not BUILD, reason="HARMONIUM_BUILD does not name a build folder")

PROGRAM = (
    "import harmonium, numpy as np\n"
    "assert harmonium.__file__.startswith({place!r}), harmonium.__file__\n"
    "harmonium.RBM(n_components=2, updates=5).fit(np.eye(4))\n"
)


def try_it(place):
    environment = {**os.environ, "PYTHONPATH": str(place)}
    subprocess.run([sys.executable, "-c", PROGRAM.format(place=str(place))], check=True, env=environment, cwd="/")


def test_cmake_installs_it(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--prefix", tmp_path], check=True)
    (package,) = tmp_path.glob("lib/python3*/*-packages/harmonium")
    assert {"__init__.py", "__init__.pyi", "py.typed"} <= {path.name for path in package.iterdir()}
    try_it(package.parent)


def test_pip_installs_it(tmp_path):
    pytest.importorskip("pip")
    place = tmp_path / "packages"
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--target", place, HOME]
    subprocess.run([*command, "--config-settings", f"build-dir={BUILD}"], check=True, capture_output=True)
    try_it(place)
