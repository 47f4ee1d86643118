"""What is written is true: docstrings, docs/python.md, the stub and the examples."""

import ast
import doctest
import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import harmonium

HOME = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["harmonium"] + [
    f"harmonium.{each.name}" for each in pkgutil.iter_modules(harmonium.__path__) if each.name != "_core"
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_do_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_page_of_documentation_does_what_it_says():
    assert doctest.testfile(str(HOME / "docs" / "python.md"), module_relative=False).failed == 0


def test_the_stub_is_what_the_library_says():
    subprocess.run([sys.executable, HOME / "scripts" / "python_stubs", "--check"], check=True)


def test_stubs_can_be_parsed_and_name_what_there_is():
    for path in (HOME / "python" / "harmonium").glob("*.pyi"):
        tree = ast.parse(path.read_text())
        module = importlib.import_module("harmonium" if path.stem == "__init__" else f"harmonium.{path.stem}")
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                assert hasattr(module, node.name), f"{path.name}: {node.name}"


def test_everything_public_is_documented():
    for cls in (harmonium.RBM, harmonium.ClassificationRBM, harmonium.DBN, harmonium.DBM):
        assert "{parameters}" not in cls.__doc__
        for name in cls().get_params():
            assert f"\n{name} : " in cls.__doc__, name
        for name, member in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_") and member.__module__.startswith("harmonium"):
                assert member.__doc__, f"{cls.__name__}.{name}"


@pytest.mark.parametrize(
    "example, arguments",
    [("digits_pipeline.py", ["--updates", "50"]), ("imported_likelihood.py", ["--n-iter", "1", "--betas", "50"])],
)
def test_the_examples_run(example, arguments):
    command = [sys.executable, HOME / "python" / "examples" / example, *arguments]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "errors" in result.stdout or "nats" in result.stdout
