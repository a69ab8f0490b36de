"""What the processes of test_processes.py do, under an MPI launcher: they say of each check how it went."""

from __future__ import annotations

import sys
import traceback

import numpy as np
import scipy.sparse as sp
from mpi4py import MPI

import krylith
from krylith import _krylith as core
from krylith._matrices import own_rows, source_of
from krylith._processes import link_of

from conftest import laplacian, unsymmetric

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def cuts_of(n, empty=None):
    """Returns where the rows of each process begin; process `empty` has none."""
    shares = [0 if k == empty else k + 1 for k in range(SIZE)]
    return [0, *(n * int(s) // sum(shares) for s in np.cumsum(shares))]


def own(a, cuts):
    return a[cuts[RANK] : cuts[RANK + 1]]


def whole(x):
    return np.concatenate(COMM.allgather(x))


def parts(A, cuts, **options):
    """Returns the operator of one process with all devices."""
    return krylith.Operator([A[a:b] for a, b in zip(cuts, cuts[1:])], **options)


def raises(kind, words, call):
    """Says that all processes raise this."""
    try:
        call()
    except BaseException as raised:
        told = COMM.allgather((type(raised), str(raised)))
        assert len(set(told)) == 1, told
        assert isinstance(raised, kind) and words in str(raised), told
        return
    raise AssertionError(f"process {RANK} raised nothing")


@check
def solves_as_one_process():
    for dtype in (np.float64, np.float32):
        for A in (laplacian(20).astype(dtype), unsymmetric(20).astype(dtype)):
            symmetric = abs(A - A.T).max() == 0
            cuts = cuts_of(A.shape[0])
            b = np.random.default_rng(1).standard_normal(A.shape[0]).astype(dtype)
            op, one = krylith.Operator(own(A, cuts), comm=COMM), parts(A, cuts)
            assert op.shape == A.shape and op.local_shape == (cuts[RANK + 1] - cuts[RANK],) * 2 and op.nnz == A.nnz
            assert op.dtype == dtype and np.array_equal(whole(op @ own(b, cuts)), one @ b)
            assert np.array_equal(whole(op.T @ own(b, cuts)), one.T @ b)
            for method in ("cg", "minres") if symmetric else ("gmres", "bicgstab", "idr", "fgmres"):
                for M in (None, "jacobi", "amg", "ic0" if symmetric else "ilu0"):
                    x, info = getattr(op, method)(own(b, cuts), M=M)
                    y, of_one = getattr(one, method)(b, M=M)
                    assert info.converged and np.array_equal(whole(x), y), (method, M, dtype)
                    assert info.iterations == of_one.iterations and info.preconditioner == of_one.preconditioner
                    assert info.true_residual == of_one.true_residual


@check
def functions_choose_and_solve():
    A = laplacian(20)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    x, info = krylith.solve(own(A, cuts), own(b, cuts), comm=COMM)
    assert info.converged and np.linalg.norm(b - A @ whole(x)) <= 1.1e-8 * np.linalg.norm(b)
    x, info = krylith.cg(own(A, cuts), own(b, cuts), comm=COMM, M="amg")
    assert info.converged and x.shape == own(b, cuts).shape
    ml = krylith.amg(own(A, cuts), comm=COMM, B=own(np.stack([b, np.arange(b.size)], axis=1), cuts))
    z = ml @ own(b, cuts)
    same = krylith.amg(parts(A, cuts), B=np.stack([b, np.arange(b.size)], axis=1))
    assert np.array_equal(whole(z), same @ b)
    y, info = krylith.cg(own(A, cuts), own(b, cuts), M=ml)
    assert info.converged and np.allclose(x, y, atol=1e-3 * abs(x).max())


@check
def a_process_without_rows():
    A = laplacian(12)
    cuts, b = cuts_of(A.shape[0], empty=SIZE - 1), np.ones(A.shape[0])
    op = krylith.Operator(own(A, cuts), comm=COMM)
    for M in (None, "jacobi", "amg", "chebyshev"):
        x, info = op.cg(own(b, cuts), M=M)
        assert info.converged and np.linalg.norm(b - A @ whole(x)) <= 1.1e-8 * np.linalg.norm(b)
    op.update(own(A, cuts).data * 2)
    assert np.allclose(whole(op @ own(b, cuts)), 2 * A @ b)


@check
def columns_of_64_bits():
    A = laplacian(12)
    cuts, b = cuts_of(A.shape[0]), np.arange(A.shape[0], dtype=float)
    mine = own(A, cuts)
    for kind in (np.int32, np.int64):
        arrays = mine.data, mine.indices.astype(kind), mine.indptr.astype(kind)
        op = krylith.Operator(arrays, shape=mine.shape, comm=COMM)
        assert np.array_equal(whole(op @ own(b, cuts)), parts(A, cuts) @ b)
    raises(TypeError, "needs shape", lambda: krylith.Operator(arrays, comm=COMM))
    raises(TypeError, "needs shape", lambda: krylith.Operator(arrays, like=op))


@check
def several_devices_of_each():
    A = laplacian(15)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    op = krylith.Operator(own(A, cuts), comm=COMM, devices=2, backend="host")
    assert len(op.devices) == 2
    x, info = op.cg(own(b, cuts), M="amg")
    assert info.converged and np.linalg.norm(b - A @ whole(x)) <= 1.1e-8 * np.linalg.norm(b)
    op.update(own(A, cuts).data * 2)
    y, info = op.cg(own(b, cuts), M="amg")
    assert info.converged and np.allclose(2 * y, x)


@check
def blocks_of_rows_stay_on_a_device():
    A = laplacian(15)
    cuts, b = [3 * cut for cut in cuts_of(A.shape[0] // 3)], np.ones(A.shape[0])
    of_parts = own_rows(source_of(own(A, cuts)), 2, 3).arrays
    assert len(of_parts) == 2 and all((len(indptr) - 1) % 3 == 0 for indptr, _, _ in of_parts)
    op = krylith.Operator(own(A, cuts), comm=COMM, devices=2, backend="host", block_size=3)
    assert len(op.devices) == 2 and op.local_shape[0] == cuts[RANK + 1] - cuts[RANK]
    ml = op.preconditioner("amg", block_size=3)
    assert op.cg(own(b, cuts), M=ml)[1].converged
    assert krylith.cg(own(A, cuts), own(b, cuts), M=ml)[1].converged  # by an operator like that one
    assert krylith.Operator(own(abs(A) + A.T, cuts), like=op.T).cg(own(b, cuts))[1].converged


@check
def updates_follow():
    A = unsymmetric(15)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    B = A.copy()
    B.data *= np.linspace(1, 1.5, B.nnz)
    op = krylith.Operator(own(A, cuts), comm=COMM)
    for M in ("ilu0", "amg"):
        op.gmres(own(b, cuts), M=M)
    op.T @ own(b, cuts)
    op.update(own(B, cuts).data)
    assert np.allclose(whole(op @ own(b, cuts)), B @ b) and np.allclose(whole(op.T @ own(b, cuts)), B.T @ b)
    for transpose in (False, True):
        for M in ("ilu0", "amg"):
            x, info = op.gmres(own(b, cuts), M=M, transpose=transpose)
            assert info.converged
            assert np.linalg.norm(b - (B.T if transpose else B) @ whole(x)) <= 1.1e-8 * np.linalg.norm(b)
    raises(ValueError, "entries, allowed are", lambda: op.update(own(B, cuts).data[: None if RANK else -1]))
    assert np.allclose(whole(op @ own(b, cuts)), B @ b)


@check
def starts_and_several_right_hand_sides():
    A = laplacian(15)
    cuts, b = cuts_of(A.shape[0]), np.zeros((A.shape[0], 2))
    b[0, 0] = b[-1, 1] = 1  # zero in some processes
    op = krylith.Operator(own(A, cuts), comm=COMM)
    x, info = op.cg(own(b, cuts), M="jacobi")
    assert info.converged and np.allclose(A @ whole(x), b, atol=1e-7) and len(info.columns) == 2
    out = np.empty(own(b, cuts).shape[0])
    y, info = op.cg(own(b, cuts)[:, 0], x0=x[:, 0].copy(), out=out)
    assert y is out and info.iterations == 0 and info.converged
    y, info = op.cg(own(b, cuts)[:, 0], x0=np.zeros(out.size) if RANK else np.ones(out.size))
    assert info.converged and np.allclose(whole(y), whole(x)[:, 0], atol=1e-6)
    y, info = op.gmres(own(b, cuts)[:, 0], x0="Mb", M="jacobi")
    assert info.converged


@check
def functions_as_preconditioners():
    A = laplacian(15)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    op, diagonal = krylith.Operator(own(A, cuts), comm=COMM), own(A.diagonal(), cuts)

    def divided(r):
        assert COMM.allreduce(r.size) == A.shape[0]  # it may communicate
        return r / diagonal

    x, info = op.cg(own(b, cuts), M=divided)
    y, of_name = op.cg(own(b, cuts), M="jacobi")
    assert info.converged and np.allclose(x, y) and abs(info.iterations - of_name.iterations) <= 1
    x, info = op.cg(own(b, cuts), M=sp.diags_array(1 / diagonal))
    assert info.converged and np.allclose(x, y)

    def fails(r):
        if RANK == SIZE - 1:
            raise LookupError("no M here")
        return r

    raises(LookupError, "no M here", lambda: op.cg(own(b, cuts), M=fails))
    assert op.cg(own(b, cuts))[1].converged


@check
def callbacks_of_some():
    A = laplacian(15)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    op, seen = krylith.Operator(own(A, cuts), comm=COMM), []
    last = SIZE - 1
    x, info = op.cg(own(b, cuts), callback=(lambda x: seen.append(x)) if RANK == last else None)
    assert len(seen) == (info.iterations if RANK == last else 0)
    assert RANK != last or np.allclose(seen[-1], x)
    x, info = op.cg(own(b, cuts), callback=lambda *a: seen.append(a), callback_type="progress")
    assert seen[-1][0] == info.iterations

    def ends(x):
        raise StopIteration

    x, info = op.cg(own(b, cuts), callback=ends if RANK == last else None)
    assert not info.converged and set(COMM.allgather((info.reason, info.iterations))) == {(info.reason, 1)}

    def interrupts(x):
        raise KeyboardInterrupt("here")

    raises(KeyboardInterrupt, "here", lambda: op.cg(own(b, cuts), callback=interrupts if RANK == last else None))

    def multiplies(x):
        op @ x

    raises(RuntimeError, "busy", lambda: op.cg(own(b, cuts), callback=multiplies if RANK == last else None))
    assert op.cg(own(b, cuts))[1].converged


@check
def mistakes_of_one():
    A = laplacian(12)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    mine, last = own(A, cuts), RANK == SIZE - 1
    op = krylith.Operator(mine, comm=COMM)
    short = own(b, cuts)[: -1 if last else None]
    raises(ValueError, "b has the shape", lambda: op.cg(short))
    raises(ValueError, "x has the shape", lambda: op @ short)
    raises(TypeError, "complex", lambda: op.cg(own(b, cuts) * (1j if last else 1)))
    raises(TypeError, "unknown option", lambda: op.cg(own(b, cuts), **({"rtoll": 1} if last else {})))
    raises(ValueError, "method must be the same", lambda: op.solve(own(b, cuts), method="gmres" if last else "cg"))
    raises(ValueError, "M must be the same", lambda: op.cg(own(b, cuts), M="jacobi" if last else None))
    other = krylith.Operator(mine, like=op).preconditioner("jacobi")
    raises(ValueError, "M must be the same", lambda: op.cg(own(b, cuts), M=other if last else "jacobi"))
    raises(ValueError, "transpose must be the same", lambda: op.gmres(own(b, cuts), transpose=last))
    raises(ValueError, "x0 must be the same", lambda: op.cg(own(b, cuts), "Mb" if last else None, M="jacobi"))
    raises(ValueError, "another method", lambda: op @ own(b, cuts) if last else op.cg(own(b, cuts)))
    raises(ValueError, "columns of b must be", lambda: op.cg(np.ones((mine.shape[0], 3 if last else 2))))
    raises(ValueError, "rtol", lambda: op.cg(own(b, cuts), rtol=0.1 if last else 0.01))
    raises(ValueError, "the type of A's values", lambda: krylith.Operator(mine.astype(np.float32 if last else float), comm=COMM))
    raises(ValueError, "square", lambda: krylith.Operator(mine[: -1 if last else None], comm=COMM))
    raises(TypeError, "complex", lambda: krylith.solve(mine * (1j if last else 1), own(b, cuts), comm=COMM))
    wrong = mine.copy()
    if last:
        wrong.indices[-1] = 10**6
    raises(krylith.InputError, "column 1000000", lambda: krylith.Operator(wrong, comm=COMM))
    raises(ValueError, "devices is", lambda: krylith.Operator(mine, comm=COMM, devices=99 if last else 1))
    raises(ValueError, "unknown preconditioner", lambda: op.preconditioner("jacobbi"))
    x, info = op.cg(own(b, cuts))
    assert info.converged  # it all works as before


@check
def one_process_looks():
    A = laplacian(15)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    op = krylith.Operator(own(A, cuts), comm=COMM)
    ml = op.preconditioner("amg")
    x, info = op.cg(own(b, cuts), M="amg", history=True, verbose=True)
    if RANK == 0:
        assert ml.levels[0]["rows"] == A.shape[0] and ml.complexity > 1 and ml.nbytes > 0 and ml.name.startswith("amg")
        assert "225 x 225" in repr(op) and op._repr_html_() and op.memory() and op.explain()["levels"] and info.bytes
    histories = COMM.allgather(info.history.tolist())
    assert histories.count(histories[0]) == SIZE and len(histories[0]) == info.iterations + 1


@check
def what_cannot_span_processes():
    A = laplacian(12)
    cuts, b = cuts_of(A.shape[0]), np.ones(A.shape[0])
    mine = own(A, cuts)
    raises(TypeError, "a function, which can't span", lambda: krylith.Operator(lambda v: v, shape=(9, 9), comm=COMM))
    raises(TypeError, "a file, which can't span", lambda: krylith.Operator("gallery:poisson2d:9", comm=COMM))
    raises(TypeError, "not by rows", lambda: krylith.Operator(mine.tocoo(), comm=COMM))
    raises(TypeError, "allowed are communicators", lambda: krylith.Operator(mine, comm="world"))
    op = krylith.Operator(mine, comm=COMM)
    raises(ValueError, "least squares", lambda: op.lsqr(own(b, cuts)))
    raises(ValueError, "order", lambda: krylith.Operator(mine, comm=COMM, order="rcm"))
    raises(ValueError, "not in host memory", op.csr)


@check
def a_link_that_was_taken():
    link = link_of(COMM, None)
    group = core.Group.host(1, 1).joined(link)
    assert group.processes == SIZE
    for use in (lambda: link.processes, lambda: link.all_gather(b""), lambda: group.joined(link)):
        raises(RuntimeError, "has taken this link", use)


@check
def other_communicators():
    A = laplacian(12)
    b = np.ones(A.shape[0])
    for alone in (MPI.COMM_SELF, None):
        assert krylith.Operator(A, comm=alone).cg(b)[1].converged
    some = COMM.Split(RANK == 0)  # process 0, and the others
    rows = A[A.shape[0] * some.rank // some.size : A.shape[0] * (some.rank + 1) // some.size]
    for given in (some, some.py2f()):
        op = krylith.Operator(rows, comm=given)
        x, info = op.cg(np.ones(rows.shape[0]), M="amg")
        assert info.converged
        assert np.linalg.norm(b - A @ np.concatenate(some.allgather(x))) <= 1.1e-8 * np.linalg.norm(b)
        del op
    some.Free()


def lose_one():
    """One process does not come; the other ones are told in time."""
    A = laplacian(12)
    cuts = cuts_of(A.shape[0])
    op = krylith.Operator(own(A, cuts), comm=COMM, timeout=1)
    if RANK != 0:
        MPI.Request.Wait(COMM.irecv(source=0, tag=7))
        return
    try:
        op.cg(own(np.ones(A.shape[0]), cuts))
    except krylith.CommunicationError as lost:
        print("lost:", lost, flush=True)
    for other in range(1, SIZE):
        COMM.send(None, dest=other, tag=7)


def run(checks):
    """Runs each in all processes, and says of each whether it passed."""
    for function in checks:
        failure = ""
        try:
            function()
        except BaseException:
            failure = traceback.format_exc()
        failures = COMM.gather(failure)
        if failures is not None:
            for process, text in enumerate(failures):
                if text:
                    print(f"process {process} of {SIZE}: {text}")
            print(f"{function.__name__}: {'failed' if any(failures) else 'passed'}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["lose_one"]:
        lose_one()
    else:
        run(CHECKS)
