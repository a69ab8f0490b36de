"""The libraries that compare.py times, each as it is usually called."""

import inspect

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import krylith
from race import Contestant


def by_function(name, A, b, devices=1, **options):
    """From arrays in host memory to x there, with nothing kept."""
    function = getattr(krylith, name)
    return Contestant(f"krylith.{name}", lambda tol, _: function(A, b, rtol=tol, devices=devices, **options), devices)


def by_operator(A, b):
    """CG on a kept Operator, with arrays in host memory."""
    op, out = krylith.Operator(A), np.empty_like(b)
    return Contestant("krylith, Operator", lambda tol, _: op.cg(b, M=None, rtol=tol, out=out))


def by_operator_on_gpus(A, b, devices):
    """CG on a kept Operator, with arrays on the GPUs, as many rows on each."""
    import cupy

    op = krylith.Operator(A, devices=list(range(devices)), kind="halo")
    rhs, out = [], []
    for device, part in enumerate(np.array_split(b, devices)):
        with cupy.cuda.Device(device) as here:
            rhs.append(cupy.asarray(part))
            out.append(cupy.empty_like(rhs[-1]))
            here.synchronize()
    if devices == 1:
        (rhs,), (out,) = rhs, out
    return Contestant("krylith, Operator, CuPy", lambda tol, _: op.cg(rhs, M=None, rtol=tol, out=out), devices)


def by_scipy(A, b):
    def solve(tol, callback):
        return scipy.sparse.linalg.cg(A, b, rtol=tol, maxiter=10**6, callback=callback)[0], None

    return Contestant("SciPy cg", solve)


def by_cupy(A, b, kept):
    """CuPy's CG. kept: with A and b on the GPU; else from arrays in host memory to x there."""
    import cupy
    from cupyx.scipy.sparse import csr_matrix
    from cupyx.scipy.sparse.linalg import cg

    tolerance = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"  # its name before CuPy 14

    def uploaded():
        arrays = tuple(cupy.asarray(array) for array in (A.data, A.indices, A.indptr))
        return csr_matrix(arrays, shape=A.shape), cupy.asarray(b)

    system = uploaded() if kept else None

    def solve(tol, callback):
        x = cg(*(system or uploaded()), maxiter=10**6, callback=callback, **{tolerance: tol})[0]
        cupy.cuda.Device().synchronize()
        return (x if kept else x.get()), None

    return Contestant("CuPy cg", solve)


def by_pyamg(A, b):
    """Smoothed aggregation with its defaults, and CG with one cycle of it, set-up included."""
    import pyamg

    matrix = scipy.sparse.csr_matrix(A)  # PyAMG takes no arrays

    def solve(tol, callback):
        levels = pyamg.smoothed_aggregation_solver(matrix)
        return levels.solve(b, tol=tol, accel="cg", maxiter=1000, callback=callback), None

    return Contestant("PyAMG, cg", solve)
