"""SciPy's own tests of cg, bicgstab, gmres, minres and lsqr, with krylith's functions in their place.

This file is a test, and the plugin of the pytest that it starts on the modules of the installed SciPy:
there the functions are replaced before those modules import them. By hand, with its options:

    PYTHONPATH=python/tests pytest -p test_scipys_tests --pyargs scipy.sparse.linalg._isolve.tests.test_iterative
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy
import scipy.sparse.linalg as sla

import krylith

TESTS = [f"scipy.sparse.linalg._isolve.tests.test_{name}" for name in ("iterative", "minres", "lsqr")]
COMPLEX = "complex: krylith solves real systems"
LISTED = {  # The test, with the solver where it has one, and why it fails. None may pass.
    "test_precond_inverse bicgstab": "two products an iteration, and b - A x is recomputed: more than the 3 allowed",
    "test_precond_inverse gmres": "b - A x is recomputed at each end of the loop: more products than the 3 allowed",
    "test_precond_inverse": "those two, where SciPy is older and has one test for all solvers",
    "test_basic": "maxiter counts iterations, not restarts",
    "test_callback_type": "maxiter counts iterations, not restarts",
    "test_callback_x_monotonic": "maxiter counts iterations, not restarts",
    "test_callback": "gmres preconditions from the right: its norms are of b - A x, not of M (b - A x)",
    "test_defective_precond_breakdown": "an entry is compared with exactly 0, and is 1.5e-15",
    "test_shift": "minres has no shift",
    "test_asymmetric_fail": "minres has no check",
    "test_asymmetric_preconditioner_fail": "minres has no check",
}


def adapted(name):
    """Returns krylith's function as these tests call it: what differs is what docs/python.md says."""
    function = getattr(krylith, name)

    @functools.wraps(function)
    def solver(A, b, x0=None, *, rtol=1e-5, atol=0.0, callback=None, callback_type=None, **options):
        if name == "gmres" and callback is not None and callback_type in (None, "legacy"):
            if callback_type is None:
                warnings.warn("called without specifying `callback_type`.", DeprecationWarning)
            norms = callback
            callback = lambda norm: norms(np.float64(norm))
        rtol = min(rtol, 0.999)  # krylith refuses those that any x meets
        atol = 1e100 if atol == np.inf else atol
        try:
            return function(A, b, x0, rtol=rtol, atol=atol, callback=callback, callback_type=callback_type, **options)
        except TypeError as error:
            if "is complex" in str(error):
                pytest.skip(COMPLEX)
            raise

    return solver


def lsqr(A, b, damp=0.0, atol=1e-6, btol=1e-6, iter_lim=None, show=False, x0=None):
    """Returns the first three of SciPy's ten results."""
    x, info = krylith.lsqr(A, np.ravel(b), x0, damping=damp, rtol=btol, rtol_normal=atol, maxiter=iter_lim)
    return x, 1 if info == 0 else 7, info.iterations


def pytest_configure(config):
    from scipy._lib import _array_api

    known = getattr(_array_api, "xp_capabilities_table", {})
    functions = {name: adapted(name) for name in ("cg", "bicgstab", "gmres", "minres")} | {"lsqr": lsqr}
    for name, function in functions.items():
        known[function] = known.get(getattr(sla, name))
        for module in (sla, sla._isolve):
            setattr(module, name, function)


def pytest_collection_modifyitems(config, items):
    others = []
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        solver = parameters.get("solver") or getattr(parameters.get("case"), "solver", None)
        if "TestQMR" in item.nodeid or (solver is not None and not hasattr(krylith, solver.__name__)):
            others.append(item)
        reason = LISTED.get(f"{item.originalname} {solver.__name__}" if solver else item.originalname)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=f"listed: {reason}", strict=True))
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    run = sum(len(stats.get(kind, [])) for kind in ("passed", "failed", "xfailed", "xpassed", "error"))
    listed = sum(r.wasxfail.startswith("listed") for r in stats.get("xfailed", []))
    skipped = stats.get("skipped", [])
    left_out = sum(COMPLEX in str(r.longrepr) for r in skipped)
    terminalreporter.write_line(
        f"SciPy {scipy.__version__}: {run} run, {len(stats.get('passed', []))} passed, {listed} listed; "
        f"{left_out} left out as complex, {len(skipped) - left_out} skipped by SciPy")


def test_scipys_own_tests():
    if importlib.util.find_spec(TESTS[0]) is None:
        pytest.skip("the installed SciPy has no tests")
    here = str(pathlib.Path(__file__).parent)
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
    done = subprocess.run([*command, "-p", "test_scipys_tests", "--pyargs", *TESTS], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.search(r"^SciPy .*: (\d+) run, (\d+) passed, (\d+) listed.*", done.stdout, flags=re.M)
    print(counts[0])
    run, passed, listed = map(int, counts.groups())
    assert passed > 200 and listed <= 0.05 * run
