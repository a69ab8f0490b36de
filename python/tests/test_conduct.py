"""Interruption, locks, errors, the command, types."""

from __future__ import annotations

import ast
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import krylith

from conftest import laplacian

ENDLESS = dict(rtol=0.0, atol=1e-300, maxiter=10**9, stagnation_window=2**31 - 1)


def slow():
    """A singular system with a right-hand side out of its range, on which MINRES goes on."""
    A = krylith.load("gallery:poisson3d:60")
    return A, np.random.default_rng(3).standard_normal(A.shape[0])


@pytest.mark.parametrize("columns", [1, 3])
def test_interrupt(columns):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start jobs in the background without it
    A, b = slow()
    if columns > 1:
        b = np.stack([b] * columns, 1)
    op = krylith.Operator(A)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    began = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            op.minres(b, **ENDLESS)
    assert time.perf_counter() - began < 20
    assert op.cg(b)[1] == 0


def test_interrupt_of_set_up():
    """Handlers of Python end set-up before it is over."""

    class Mine(Exception):
        pass

    def handler(signum, frame):
        raise Mine

    A = krylith.load("gallery:poisson3d:90")
    began = time.perf_counter()
    assert len(krylith.amg(A).levels) > 1
    whole = time.perf_counter() - began
    before = signal.signal(signal.SIGINT, handler)
    try:
        for _ in range(5):  # on a busy machine the signal may come too late
            timer = threading.Timer(0.3 * whole, os.kill, (os.getpid(), signal.SIGINT))
            began = time.perf_counter()
            timer.start()
            with pytest.raises(Mine):
                assert krylith.amg(A).levels
                while time.perf_counter() - began < 60:
                    time.sleep(0.01)
            if time.perf_counter() - began < 0.9 * whole:
                break
        else:
            pytest.fail("set-up was never ended")
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(krylith.amg(A).levels) > 1


def test_others_run_meanwhile():
    A, b = slow()
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    krylith.cg(A, b, rtol=1e-10)
    done.set()
    thread.join()
    assert counted > 5


def test_time_limit():
    A, b = slow()
    x, info = krylith.minres(A, b, max_seconds=0.0, **ENDLESS)
    assert info > 0 and "time" in info.reason


@pytest.mark.parametrize("where", ["callback", "M", "A"])
def test_exceptions_come_back(where, spd):
    class Mine(Exception):
        pass

    def fails(*_):
        raise Mine("text")

    b = np.ones(spd.shape[0])
    arguments = dict(callback=fails) if where == "callback" else dict(M=fails) if where == "M" else {}
    A = krylith.Operator(fails, shape=spd.shape, backend="host") if where == "A" else krylith.Operator(spd)
    for _ in range(2):
        with pytest.raises(Mine, match="text"):
            A.gmres(b, **arguments)
    if where == "A":
        with pytest.raises(Mine):
            A @ b
    else:
        assert A.cg(b)[1] == 0


def test_errors_have_kinds():
    assert issubclass(krylith.InputError, ValueError)
    assert issubclass(krylith.DeviceMemoryError, MemoryError) and issubclass(krylith.DeviceMemoryError, krylith.DeviceError)
    with pytest.raises(ValueError, match="jacobi"):
        krylith.cg(laplacian(4), np.ones(16), M="jacoby")
    with pytest.raises(krylith.InputError):
        krylith.Operator("/no/such/file.mtx")
    if not krylith.show_config()["cuda"]:
        with pytest.raises(krylith.DeviceError, match="CUDA"):
            krylith.cg(laplacian(4), np.ones(16), devices=[0])
        with pytest.raises(krylith.DeviceError):
            krylith.cg(laplacian(4), np.ones(16), backend="cuda")


def test_memory_is_flat():
    resource = pytest.importorskip("resource")
    A, b = laplacian(30), np.ones(900)
    op = krylith.Operator(A)

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def once():
        krylith.cg(A, b, M="jacobi")
        op.cg(b, M="amg")
        op.update(A.data)
        krylith.Operator(A).T @ b

    for _ in range(100):
        once()
    before = peak()
    for _ in range(200):
        once()
    assert peak() - before < 20_000  # KiB


def test_import_is_quick():
    code = "import numpy, time; t = time.perf_counter(); import krylith; print(time.perf_counter() - t)"
    best = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
    assert best < 0.5


def test_the_command():
    run = lambda *a: subprocess.run([sys.executable, "-m", "krylith", *a], capture_output=True, text=True)
    assert run("devices").stdout.strip() == "\n".join(krylith.devices())
    assert "solvers" in run("config").stdout
    assert run("nonsense").returncode == 2


def test_forked_children_are_told(spd):
    op = krylith.Operator(spd)
    assert op.cg(np.ones(spd.shape[0]))[1] == 0
    pid = os.fork()
    if pid == 0:
        told = False
        try:
            op.cg(np.ones(spd.shape[0]))
        except (ValueError, krylith.DeviceError) as error:
            told = "fork" in str(error)
        finally:
            os._exit(0 if told else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_stubs_name_what_there_is():
    from krylith import _krylith

    tree = ast.parse((pathlib.Path(krylith.__file__).parent / "_krylith.pyi").read_text())
    bases = {c.name: c for c in tree.body if isinstance(c, ast.ClassDef)}

    def members(c):
        found = set()
        for node in c.body:
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                found.add(node.target.id)
        for base in c.bases:
            if base.id in bases:
                found |= members(bases[base.id])
        return found

    for name, c in bases.items():
        if not name.startswith("_"):
            there = {n for n in dir(getattr(_krylith, name)) if not n.startswith("_")}
            assert members(c) - {"__init__"} == there, name
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert all(hasattr(_krylith, n) for n in functions)


def test_every_method_of_the_table_is_a_function():
    for name in krylith.solver_names():
        if ":" not in name:
            assert callable(getattr(krylith, name)) and callable(getattr(krylith.Operator, name))
        if name == "cg:persistent":  # for GPUs
            continue
        x, info = krylith.Operator(laplacian(6)).solve(np.ones(36), method=name, M=None)
        assert info == 0


@pytest.mark.parametrize("body", [
    "op @ b", "op.minres(b, maxiter=300)", "op.minres(b, maxiter=300, callback=lambda *a: None, callback_type='progress')",
    "krylith.cg(A, b, M=lambda r: 0.3 * r, maxiter=100)"])
def test_the_interpreter_may_end_while_a_daemon_thread_solves(body):
    code = f"""
import threading, time, numpy as np, krylith
A = krylith.load("gallery:poisson2d:100")
b = np.ones(A.shape[0])
def work():
    op = krylith.Operator(A, backend="host")
    while True:
        {body}
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
