from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp


def laplacian(n: int) -> sp.csr_array:
    """The 5-point Laplacian of n x n points, with entries of which no two are alike."""
    d = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
    eye = sp.eye_array(n)
    scale = sp.diags_array(1 + np.arange(n * n) / (n * n))
    return sp.csr_array(scale @ (sp.kron(d, eye) + sp.kron(eye, d)) @ scale)


def unsymmetric(n: int) -> sp.csr_array:
    m = sp.csr_array(laplacian(n) + sp.diags_array(np.full(n * n - 1, 0.5), offsets=1))
    m.sort_indices()
    return m


@pytest.fixture
def spd() -> sp.csr_array:
    return laplacian(12)


@pytest.fixture
def general() -> sp.csr_array:
    return unsymmetric(12)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)
