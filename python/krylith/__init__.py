"""Krylov solvers for sparse linear systems on several GPUs, or the CPU.

    x, info = krylith.solve(A, b)                 # the method is chosen
    x, info = krylith.cg(A, b, M="amg")           # SciPy's functions
    op = krylith.Operator(A, devices=2)           # built once, for many solves
    x, info = op.cg(b, M="jacobi")
    op = krylith.Operator(own_rows, comm=comm)    # over the processes of mpi4py's communicator
"""

from __future__ import annotations

from typing import Any

from . import _processor  # first: it chooses the extension module
from . import _krylith as _core
from ._devices import devices
from ._errors import CommunicationError, DeviceError, DeviceMemoryError, InputError, NotConverged
from ._functions import bicgstab, bicgstab_l, cg, fcg, fgmres, gmres, idr, load, lsqr, minres, solve
from ._info import Info
from ._matrices import complex_form, real_form
from ._multigrid import amg
from ._operator import Operator
from ._preconditioner import Preconditioner

__version__: str = _core.version


def solver_names() -> list[str]:
    """Returns the methods that `Operator.solve` takes, besides "auto"."""
    return list(_core.solver_names())


def preconditioner_names() -> list[str]:
    """Returns what the name of a preconditioner may begin with."""
    return list(_core.preconditioner_names())


def show_config() -> dict[str, Any]:
    """Returns what this krylith was built with, and what it finds."""
    import pathlib

    import numpy

    links = pathlib.Path(__file__).parent.glob("libkrylith_link_*.so")
    return {
        "version": __version__,
        "processor": _processor.CODE,
        "cuda": _core.have_cuda,
        "metis": _core.have_metis,
        "gpus": _core.cuda_device_count(),
        "mpi": sorted(path.stem.removeprefix("libkrylith_link_") for path in links),
        "numpy": numpy.__version__,
        "solvers": solver_names(),
        "preconditioners": preconditioner_names(),
    }


__all__ = [
    "CommunicationError", "DeviceError", "DeviceMemoryError", "Info", "InputError", "NotConverged",
    "Operator", "Preconditioner", "amg", "bicgstab", "bicgstab_l", "cg", "complex_form", "devices",
    "fcg", "fgmres", "gmres", "idr", "load", "lsqr", "minres", "preconditioner_names", "real_form",
    "show_config", "solve", "solver_names",
]
