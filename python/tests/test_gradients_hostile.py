"""Hostile arguments of differentiable solves: each gives an exception, and the pattern goes on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from conftest import laplacian

torch = pytest.importorskip("torch")
from krylith.torch import Pattern, solve  # noqa: E402

from test_gradients_torch import agree, leaf  # noqa: E402

ALLOWED = (TypeError, ValueError, RuntimeError)
ONES, VALUES = torch.ones(9, dtype=torch.float64), torch.from_numpy(laplacian(3).data)


@pytest.mark.parametrize("wrong", [
    (ONES, None), (ONES[:0], None), (VALUES.numpy(), None), (3.0, None), (VALUES.float(), None), (VALUES[None], None),
    (VALUES.to(torch.complex128), ONES.to(torch.complex128)), (VALUES.half(), ONES.half()),
    (VALUES.bfloat16(), ONES.bfloat16()), (VALUES.long(), ONES.long()), (VALUES.to("meta"), ONES.to("meta")),
    (VALUES.to_sparse(), None), (VALUES * np.nan, None), (None, ONES[:8]), (None, torch.ones(10, dtype=torch.float64)),
    (None, ONES[:, None][:, :0]), (None, ONES[None]), (None, ONES[:, None, None]), (None, ONES.float()),
    (None, ONES.numpy()), (None, ONES.to_sparse()), (None, ONES * np.nan), (None, ONES[0])])
def test_hostile_tensors(wrong):
    pattern = Pattern(laplacian(3))
    values, b = VALUES if wrong[0] is None else wrong[0], ONES if wrong[1] is None else wrong[1]
    with pytest.raises(ALLOWED):
        solve(values, pattern, b)
    assert agree(leaf(VALUES), pattern, leaf(ONES))


@pytest.mark.parametrize("options", [
    dict(method="nonsense"), dict(method=3), dict(M="jacoby"), dict(nonsense=1), dict(transpose=True),
    dict(out=ONES.numpy()), dict(x0=ONES[:3]), dict(rtol="a"), dict(adjoint=3), dict(adjoint={"nonsense": 1}),
    dict(adjoint={"M": "jacoby"}), dict(callback=3), dict(verbose="text"), dict(M=lambda r: r), dict(devices=2)])
def test_hostile_options(options):
    pattern = Pattern(laplacian(3))
    with pytest.raises(ALLOWED):
        solve(leaf(VALUES), pattern, ONES, **options).sum().backward()
    assert agree(leaf(VALUES), pattern, leaf(ONES))


def test_hostile_patterns():
    A = laplacian(3)
    indptr, indices, shape = A.indptr, A.indices, A.shape
    twice = torch.sparse_coo_tensor(torch.tensor([[0, 0], [0, 0]]), torch.ones(2), (1, 1))
    for wrong in (
        (indptr[:-1], indices, shape), (indptr[::-1], indices, shape), (indptr + 1, indices, shape),
        (indptr, indices[:-1], shape), (indptr, indices + 5, shape), (indptr, indices - 5, shape),
        (indptr, indices, (9, 10)), (indptr, indices, (10, 9)), (indptr, indices), (indptr, indices, 9),
        (indptr, indices, (-9, -9)), (indptr.astype(float), indices, shape), (indptr, [[0]], shape), ("a", "b", shape),
        (None, indices, shape), ([], [], (0, 1)), (None,), ("gallery:poisson2d:3",), (3,), (lambda x: x,), (twice,),
        (A.tobsr(),), (A.todia(),), (A.tolil(),), (sla.aslinearoperator(A),), (sp.csr_array((3, 4)),), (A * 1j,),
    ):
        with pytest.raises(ALLOWED):
            Pattern(*wrong)
    for wrong in (A, None, "text", A.indptr):
        with pytest.raises(TypeError, match="Pattern"):
            solve(torch.from_numpy(A.data), wrong, ONES)
    for options in (dict(devices=99), dict(backend="hosts"), dict(nonsense=1)):
        with pytest.raises(ALLOWED):
            solve(torch.from_numpy(A.data), Pattern(A, **options), ONES)


def test_the_pattern_is_not_the_callers():
    A = laplacian(3)
    for form in ("csr", "coo"):
        given = A.asformat(form).copy()
        pattern = Pattern(given)
        for name in ("indptr", "indices", "row", "col"):
            if hasattr(given, name):
                getattr(given, name)[:] = 10**6
        assert agree(leaf(A.data), pattern, leaf(ONES))
