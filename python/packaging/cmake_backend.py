"""A build backend (PEP 517) that asks CMake: `pip install .` with Debian's packages alone, without a network.

    pip install .                                             # builds in build/wheel
    pip install . --config-settings build-dir=build/release   # takes what is built there already
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HOME = pathlib.Path(__file__).resolve().parents[2]


def _version():
    return re.search(r"project\(harmonium VERSION ([0-9.]+)", (HOME / "CMakeLists.txt").read_text())[1]


def _metadata():
    text = (HOME / "pyproject.toml").read_text()
    dependencies = re.findall(r'"([^"]+)"', re.search(r"dependencies = \[(.*?)\]", text)[1])
    lines = [
        "Metadata-Version: 2.1",
        "Name: harmonium",
        f"Version: {_version()}",
        "Summary: " + re.search(r'description = "(.*)"', text)[1],
        "License: " + re.search(r'license = \{ text = "(.*)" \}', text)[1],
        "Requires-Python: " + re.search(r'requires-python = "(.*)"', text)[1],
        *(f"Requires-Dist: {each}" for each in dependencies),
        "Description-Content-Type: text/markdown",
        "",
        (HOME / "docs" / "python.md").read_text(),
    ]
    return "\n".join(lines)


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def _cmake(*arguments):
    # pip shows the backend an interpreter without packages; CMake looks for those of the real one.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(["cmake", *map(str, arguments)], cwd=HOME, env=environment, check=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    given = (config_settings or {}).get("build-dir")
    build = pathlib.Path(given or "build/wheel")
    build = build if build.is_absolute() else HOME / build
    if not given or not (build / "CMakeCache.txt").exists():
        _cmake(
            "-S", HOME, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DHARMONIUM_PYTHON=ON", "-DHARMONIUM_TESTS=OFF",
            "-DHARMONIUM_BENCH=OFF", f"-DPython3_EXECUTABLE={os.path.realpath(sys.executable)}",
        )  # fmt: skip
    _cmake("--build", build, "--target", "harmonium_python_files", "-j", os.cpu_count() or 1)
    name = f"harmonium-{_version()}"
    info = f"{name}.dist-info"
    with tempfile.TemporaryDirectory() as folder:
        _cmake("--install", build, "--component", "python", "--prefix", folder)
        package = next(pathlib.Path(folder).glob("**/harmonium"))
        files = {f"harmonium/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cmake_backend\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{name}-{_tag()}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    name = f"harmonium-{_version()}"
    listed = subprocess.run(["git", "ls-files"], cwd=HOME, check=True, capture_output=True, text=True).stdout.split("\n")
    with tarfile.open(os.path.join(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        for path in filter(None, listed):
            archive.add(HOME / path, f"{name}/{path}")
        with tempfile.TemporaryDirectory() as folder:
            about = pathlib.Path(folder) / "PKG-INFO"
            about.write_text(_metadata())
            archive.add(about, f"{name}/PKG-INFO")
    return f"{name}.tar.gz"
