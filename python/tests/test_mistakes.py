"""What goes wrong in long programs: objects that are copied, forked, collected, or read by other threads."""

import copy
import gc
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import krylith


def solved_in_a_child(_):
    A = krylith.load("gallery:poisson2d:10")
    return int(krylith.cg(A, np.ones(100), backend="host")[1])


def failing(_):
    krylith.cg("gallery:poisson2d:20", np.ones(400), maxiter=1, raise_on_failure=True, backend="host")


def test_forked_children_make_devices_of_their_own():
    assert solved_in_a_child(0) == 0
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = solved_in_a_child(0)
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


def test_failures_travel_between_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        with pytest.raises(krylith.NotConverged) as caught:
            pool.apply_async(failing, (0,)).get(120)
    assert caught.value.info.iterations == 1 and caught.value.x.shape == (400,)


def test_info_keeps_what_it_knows(spd):
    B = np.ones((spd.shape[0], 2))
    for info in (krylith.cg(spd, B[:, 0], history=True)[1], krylith.cg(spd, B)[1]):
        for other in (pickle.loads(pickle.dumps(info)), copy.copy(info), copy.deepcopy(info)):
            assert other == info and repr(other) == repr(info) and other.iterations == info.iterations
            assert len(other.columns) == len(info.columns) and (other.history == info.history).all()


def test_operators_are_not_copied(spd):
    op = krylith.Operator(spd)
    for thing in (op, op.preconditioner("jacobi")):
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="can't be copied"):
                attempt(thing)


def test_transposes_follow_and_lead_back(general, rng):
    op = krylith.Operator(general)
    held, x = op.T, rng.standard_normal(general.shape[0])
    assert held.T is op
    op.update(general.data * 3)
    for product in (held @ x, op.T @ x, op.rmatvec(x)):
        assert np.allclose(product, 3 * (general.T @ x))
    assert np.allclose(held.rmatvec(x), 3 * (general @ x))
    with pytest.raises(ValueError, match="update that"):
        held.update(general.data)


def test_linear_operators_with_rmatvec_are_transposed(general, rng):
    x = rng.standard_normal(general.shape[0])
    op = krylith.Operator(linalg.aslinearoperator(general))
    assert np.allclose(op.rmatvec(x), general.T @ x) and np.allclose(op.T.T @ x, general @ x)
    y, info = op.gmres(x, transpose=True, rtol=1e-10)
    assert info == 0 and np.allclose(general.T @ y, x, atol=1e-6)


def test_matrices_are_no_values(spd):
    op = krylith.Operator(spd)
    with pytest.raises(TypeError, match="A.data"):
        op.update(spd * 2)


def test_preconditioners_stay_those_of_their_operator(spd, rng):
    n = spd.shape[0]
    op = krylith.Operator(spd)
    M, r = op.preconditioner("ilu0"), rng.standard_normal(n)
    z = M @ r
    other = krylith.Operator(sparse.csr_array(sparse.diags_array(np.linspace(1, 100, n))), like=op)
    other.update(np.linspace(1, 50, n))
    other.fgmres(r, M=M)
    assert np.array_equal(M @ r, z)


def test_explanations_beside_solves(spd):
    op, b = krylith.Operator(spd), np.ones(spd.shape[0])
    M = op.preconditioner("jacobi")
    going = True

    def watch():
        while going:
            for look in (op.explain, lambda: M.nbytes, lambda: M.levels):
                try:
                    look()
                except RuntimeError as error:
                    assert "busy" in str(error)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        for k in range(200):
            try:
                op.gmres(b, M="jacobi" if k % 2 else "ilu0", maxiter=1)
                op.release()
            except RuntimeError as error:
                assert "busy" in str(error)
    finally:
        going = False
        thread.join()


def test_functions_that_refer_to_their_operator_are_collected():
    class Model:
        alive = 0

        def __init__(self):
            Model.alive += 1
            self.op = krylith.Operator(self.apply, shape=(10, 10), backend="host")

        def __del__(self):
            Model.alive -= 1

        def apply(self, v):
            return 2 * v

    for _ in range(5):
        model = Model()
        model.op @ np.ones(10)
    del model
    gc.collect()
    assert Model.alive == 0


def test_parts_are_read_as_they_are(rng):
    A = krylith.load("gallery:poisson2d:5")
    both = np.stack([A.data, A.data * 2], 1)
    strided = sparse.csr_array((both[:, 0], A.indices, A.indptr), shape=A.shape)
    b = rng.standard_normal(25)
    assert np.allclose(krylith.Operator([strided]) @ b, A @ b)
    wide = sparse.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    assert np.allclose(krylith.Operator([wide]) @ b, A @ b)

    class Part:
        format = "csr"
        shape = A.shape

        def __init__(self, **arrays):
            self.data, self.indices, self.indptr = A.data, A.indices, A.indptr
            self.__dict__.update(arrays)

    last = A.indptr.copy()
    last[-1] = 2**30
    for arrays in (dict(indptr=last), dict(data=A.data[:3]), dict(indices=A.indices[:0]), dict(indptr=A.indptr + 1),
                   dict(indptr=A.indptr.astype(float)), dict(indices=A.indices.astype(np.int64) + 2**32)):
        with pytest.raises(krylith.InputError):
            krylith.Operator([Part(**arrays)])


def test_updates_of_parts_that_are_refused_change_nothing():
    A = krylith.load("gallery:poisson2d:10")
    op, b = krylith.Operator([A[:50], A[50:]]), np.arange(100.0)
    with pytest.raises(RuntimeError, match="busy"):
        op.cg(b, callback=lambda x: op.update([A[:50].data * 5, A[50:].data * 5]))
    assert np.allclose(op.T @ b, A.T @ b)
    X, info = op.cg(np.stack([b, b + 1], 1))
    assert info == 0 and np.allclose(A @ X[:, 1], b + 1, atol=1e-5)


def test_least_squares_of_reordered_rows(general):
    b = np.ones(general.shape[0])
    x, info = krylith.Operator(general, order="rcm").lsqr(b)
    assert info == 0 and np.allclose(general @ x, b, atol=1e-4)


def test_names_that_are_nearly_right(spd):
    b = np.ones(spd.shape[0])
    with pytest.raises(TypeError, match="did you mean rtol"):
        krylith.cg(spd, b, tol=1e-3)
    assert krylith.solve(spd, b, method="minres")[1].solver == "minres"
    seen = []
    krylith.solve(spd, b, method="cg", callback=lambda x: seen.append(x.shape))
    assert seen and seen[0] == b.shape
