"""Processes that solve together, started by the MPI launcher that fits mpi4py: processes*.py is what they do."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import krylith

PROGRAM = pathlib.Path(__file__).with_name("processes.py")
PETSC = PROGRAM.with_name("processes_petsc.py")
DOLFINX = PROGRAM.with_name("processes_dolfinx.py")
NEEDS = {PETSC: "petsc4py", DOLFINX: "dolfinx"}
ENVIRONMENT = {  # Open MPI refuses root, and more processes than cores, unless it is told to; version 5 by other names
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
}


def run(launcher, processes, *command, seconds=300):
    return subprocess.run(
        [launcher, "-n", str(processes), sys.executable, *command], env={**os.environ, **ENVIRONMENT},
        capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)


@functools.cache
def launcher():
    """Returns what starts processes that mpi4py takes for one program."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    beside = pathlib.Path(sys.executable).with_name("mpiexec")
    for name in (str(beside), "mpiexec", "mpiexec.openmpi", "mpiexec.mpich"):
        if shutil.which(name) is None:
            continue
        try:
            tried = run(name, 2, "-c", "from mpi4py import MPI; print('of', MPI.COMM_WORLD.size, flush=True)", seconds=30)
        except subprocess.TimeoutExpired:
            continue
        if tried.stdout.count("of 2") == 2:
            return name
    return None


@pytest.fixture(scope="session")
def start():
    found = launcher()
    if found is None:
        pytest.skip("there is no launcher of an MPI that mpi4py finds")
    return functools.partial(run, found)


@functools.cache
def outcomes(program, processes):
    """Returns of each check how it went, and all that was printed: one launch makes all of them."""
    done = run(launcher(), processes, str(program))
    text = done.stdout + done.stderr
    return dict(re.findall(r"^(\w+): (passed|failed)$", text, flags=re.M)), text


def checks(of):
    return [(of, name) for name in re.findall(r"^@check\ndef (\w+)", of.read_text(), flags=re.M)]


@pytest.mark.parametrize("processes", [2, 3])
@pytest.mark.parametrize("program, name", [*checks(PROGRAM), *checks(PETSC), *checks(DOLFINX)])
def test_processes(start, program, name, processes):
    if NEEDS.get(program) is not None:
        pytest.importorskip(NEEDS[program], reason=f"{NEEDS[program]} is not installed")
    went, text = outcomes(program, processes)
    assert went.get(name) == "passed", text


def test_a_process_that_is_lost(start):
    done = start(2, str(PROGRAM), "lose_one")
    assert "lost: a driver of the communicator did not answer within 1 s" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("mistake, words", [
    ("op.cg(np.ones(31))", ["ValueError: b has the shape (31,)"] * 2),
    ("raise LookupError('mine')", ["LookupError: mine", "CommunicationError: driver 1 of the communicator has ended"]),
])
def test_an_error_ends_all(start, mistake, words):
    """Nobody waits for a process that an exception has ended, krylith's or another one."""
    done = start(2, "-c", f"""
import krylith, numpy as np
from mpi4py import MPI
A = krylith.load("gallery:poisson2d:8")[32 * MPI.COMM_WORLD.rank :][:32]
op = krylith.Operator(A, comm=MPI.COMM_WORLD)
if MPI.COMM_WORLD.rank == 1:
    {mistake}
op.cg(np.ones(32))
""")
    assert done.returncode != 0
    assert all(done.stderr.count(text) == words.count(text) for text in words), done.stderr


@pytest.mark.parametrize("processes", [1, 3])
def test_page(start, processes):
    text = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()
    blocks = re.findall(r"^```python mpi4py\n(.*?)^```", text, flags=re.M | re.S)
    assert blocks
    for block in blocks:
        done = start(processes, "-c", block)
        assert done.returncode == 0, done.stdout + done.stderr


def test_show_config():
    assert all(name in ("openmpi", "mpich", "mpich_debian", "mpi_abi") for name in krylith.show_config()["mpi"])
