"""The examples in Python run, and their own checks hold."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples/python"
NEEDS = {"dolfinx_poisson": "dolfinx", "fipy_diffusion": "fipy", "scikit_fem_elasticity": "skfem"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_example(name, tmp_path):
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py"], capture_output=True, text=True, cwd=tmp_path,
                          env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
