"""Arrays on GPUs, used where they lie. Skipped aloud where there is no GPU, CuPy or torch."""

import numpy as np
import pytest
from scipy import sparse

import krylith
from krylith import _krylith as core

GPUS = core.cuda_device_count()
pytestmark = pytest.mark.skipif(GPUS == 0, reason="there is no GPU")


def poisson(n=40, dtype=np.float64):
    return sparse.csr_array(krylith.load(f"gallery:poisson2d:{n}").astype(dtype))


def skewed(n=900):
    return sparse.csr_array(sparse.diags_array([-1.0, 3.0, -0.5], offsets=[-1, 0, 30], shape=(n, n)))


class Cupy:
    """What tests do by CuPy."""

    def __init__(self):
        self.lib = pytest.importorskip("cupy", reason="CuPy is not installed")
        from cupyx.scipy import sparse as cusparse

        self.sparse = cusparse

    def vector(self, v, device=0):
        with self.lib.cuda.Device(device):
            return self.lib.asarray(v)

    def matrix(self, a, device=0):
        with self.lib.cuda.Device(device):
            return self.sparse.csr_matrix(sparse.csr_matrix(a))

    def values(self, a):
        return a.data

    def host(self, v):
        return v.get()


class Torch:
    """The same by torch."""

    def __init__(self):
        self.lib = pytest.importorskip("torch", reason="torch is not installed")
        if not self.lib.cuda.is_available():
            pytest.skip("torch has no CUDA")

    def vector(self, v, device=0):
        return self.lib.asarray(np.ascontiguousarray(v)).to(f"cuda:{device}")

    def matrix(self, a, device=0):
        arrays = [self.lib.asarray(v).to(f"cuda:{device}") for v in (a.indptr, a.indices, a.data)]
        return self.lib.sparse_csr_tensor(*arrays, size=a.shape)

    def values(self, a):
        return a.values()

    def host(self, v):
        return v.cpu().numpy()


@pytest.fixture(params=[Cupy, Torch])
def gpu(request):
    return request.param()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("matrix_on_gpu", [True, False])
def test_b_and_x_in_place(gpu, dtype, matrix_on_gpu):
    A = poisson(dtype=dtype)
    op = krylith.Operator(gpu.matrix(A)) if matrix_on_gpu else krylith.Operator(A)
    b = gpu.vector(np.ones(A.shape[0], dtype))
    tolerance = 1e-4 if dtype == np.float32 else 1e-8
    x, info = op.cg(b, rtol=tolerance)
    assert info == 0 and info.copies == 0 and type(x) is type(b)
    assert np.linalg.norm(A @ gpu.host(x) - 1) <= 3 * info.rtol * np.sqrt(A.shape[0])
    y = op @ b
    assert type(y) is type(b) and np.allclose(gpu.host(y), A @ np.ones(A.shape[0]), atol=1e-5)
    out = gpu.vector(np.zeros(A.shape[0], dtype))
    again, info = op.cg(b, x0=x, out=out, rtol=tolerance)
    assert again is out and info.iterations <= 1 and info.copies == 1
    again, info = op.cg(b, x0=out, out=out, rtol=tolerance)
    assert info.copies == 0
    host, info = op.cg(np.ones(A.shape[0], dtype), rtol=tolerance)
    assert isinstance(host, np.ndarray) and np.allclose(host, gpu.host(x), atol=1e-2 if dtype == np.float32 else 1e-6)


def test_functions_and_methods(gpu):
    A = poisson()
    b = gpu.vector(np.ones(A.shape[0]))
    for solve in (krylith.cg, krylith.solve, krylith.bicgstab):
        x, info = solve(gpu.matrix(A), b, rtol=1e-8)
        assert info == 0 and np.allclose(A @ gpu.host(x), 1, atol=1e-5)


def test_transpose_update_and_multigrid(gpu):
    A = skewed()
    given = gpu.matrix(A)
    op = krylith.Operator(given)
    v = np.linspace(0, 1, A.shape[0])
    assert np.allclose(gpu.host(op.T @ gpu.vector(v)), A.T @ v)
    op.update(gpu.values(given) * 2)
    assert np.allclose(gpu.host(op @ gpu.vector(v)), 2 * (A @ v))
    assert np.allclose(gpu.host(op.T @ gpu.vector(v)), 2 * (A.T @ v))
    op.update(A.data)  # from the host
    x, info = op.T.gmres(gpu.vector(v), M="jacobi", rtol=1e-10)
    assert info == 0 and np.allclose(A.T @ gpu.host(x), v, atol=1e-7)
    P = poisson(60)
    op = krylith.Operator(gpu.matrix(P))
    x, info = op.cg(gpu.vector(np.ones(P.shape[0])), M="amg")
    assert info == 0 and info.iterations < 30 and info.copies == 0
    op.update(gpu.vector(P.data * 4))
    y, info = op.cg(gpu.vector(np.ones(P.shape[0])), M="amg")
    assert info == 0 and np.allclose(4 * gpu.host(y), gpu.host(x), atol=1e-5)


def test_int64_indices_and_views():
    gpu = Cupy()
    A = poisson()
    given = gpu.matrix(A)
    given.indices, given.indptr = given.indices.astype("int64"), given.indptr.astype("int64")
    op = krylith.Operator(given)
    b = gpu.lib.ones(2 * A.shape[0])
    x, info = op.cg(b[::2])  # isn't contiguous: it is copied
    assert info == 0 and info.copies > 0
    x, info = op.cg(b[: A.shape[0]])
    assert info == 0 and info.copies == 0
    x, info = op.cg(b[: A.shape[0]].astype("float32"))
    assert info == 0 and info.copies > 0


def test_streams_are_waited_for(gpu):
    A = poisson(200)
    op = krylith.Operator(A)
    n = A.shape[0]
    if isinstance(gpu, Cupy):
        stream = gpu.lib.cuda.Stream(non_blocking=True)
        context, ones, big = stream, gpu.lib.ones, lambda: gpu.lib.ones((4000, 4000))
    else:
        stream = gpu.lib.cuda.Stream()
        context = gpu.lib.cuda.stream(stream)
        ones = lambda m: gpu.lib.ones(m, dtype=gpu.lib.float64, device="cuda:0")  # noqa: E731
        big = lambda: gpu.lib.ones((4000, 4000), device="cuda:0")  # noqa: E731
    with context:
        b = ones(n) * 5
        work = big()
        for _ in range(20):  # keeps the stream busy
            work = work @ work * 1e-4
        b += 2
        y = op @ b
    assert np.allclose(gpu.host(y), 7 * (A @ np.ones(n)))


@pytest.mark.skipif(GPUS < 2, reason="there is one GPU")
def test_two_gpus(gpu):
    A = poisson(80)
    n, cut = A.shape[0], 3000
    ones = [gpu.vector(np.ones(cut), 0), gpu.vector(np.ones(n - cut), 1)]
    op = krylith.Operator([gpu.matrix(A[:cut], 0), gpu.matrix(A[cut:], 1)])
    for M in (None, "jacobi", "amg"):
        x, info = op.cg(ones, M=M)
        assert info == 0 and info.copies == 0 and isinstance(x, list)
        assert np.allclose(A @ np.concatenate([gpu.host(p) for p in x]), 1, atol=1e-5)
    y = op @ ones
    assert np.allclose(np.concatenate([gpu.host(p) for p in y]), A @ np.ones(n))
    op.update([gpu.vector(A[:cut].data * 2, 0), gpu.vector(A[cut:].data * 2, 1)])
    z = op.T @ ones
    assert np.allclose(np.concatenate([gpu.host(p) for p in z]), 2 * (A.T @ np.ones(n)))
    x, info = op.cg(np.ones(n))
    assert info == 0 and isinstance(x, np.ndarray)
    with pytest.raises(ValueError, match="entries"):
        op.cg(ones[::-1])
    host = krylith.Operator(A, devices=2)
    x, info = host.cg(np.ones(n))
    assert info == 0
    one = krylith.Operator(A, devices=[1])
    x, info = one.cg(gpu.vector(np.ones(n), 1))
    assert info == 0 and info.copies == 0
    with pytest.raises(ValueError, match="lies in"):
        one.cg(gpu.vector(np.ones(n), 0))


def test_functions_of_cupy_are_recorded():
    cupy = Cupy().lib
    n, calls = 2000, []
    kernel = cupy.ElementwiseKernel(
        "raw float64 x, int64 n", "float64 y",
        "y = 2.1 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0)", "second_difference")

    def product(x, out):
        calls.append(x.shape)
        kernel(x, n, out)

    op = krylith.Operator(product, shape=(n, n), on_device=True)
    b = cupy.ones(n)
    calls.clear()
    x, info = op.cg(b, rtol=1e-10)
    assert info == 0 and info.recorded and info.copies == 0
    assert len(calls) < info.iterations + 20
    y = cupy.empty(n)
    kernel(x, n, y)
    assert float(cupy.abs(y - 1).max()) < 1e-6


def test_functions_that_allocate_run_eagerly():
    cupy = Cupy().lib
    scale = cupy.linspace(1, 2, 500)

    def product(v):
        return scale * v + 0.5 * v

    op = krylith.Operator(product, shape=(500, 500), on_device=True)
    x, info = op.cg(cupy.ones(500), rtol=1e-10)
    assert info == 0 and not info.recorded
    assert np.allclose(x.get(), 1 / (scale.get() + 0.5))

    def with_temporaries(v, out):
        out[...] = scale * v

    x, info = krylith.Operator(with_temporaries, shape=(500, 500), on_device=True).cg(cupy.ones(500))
    assert info == 0 and not info.recorded


def test_functions_that_raise():
    cupy = Cupy().lib
    fail = []

    def product(x, out):
        if fail:
            raise KeyError("mine")
        cupy.multiply(x, 2.0, out=out)

    op = krylith.Operator(product, shape=(50, 50), on_device=True)
    fail.append(1)
    with pytest.raises(KeyError, match="mine"):
        op.cg(cupy.ones(50))
    fail.clear()
    x, info = op.cg(cupy.ones(50))
    assert info == 0 and np.allclose(x.get(), 0.5)


def test_numba_kernels_are_recorded():
    cupy = Cupy().lib
    cuda = pytest.importorskip("numba.cuda", reason="Numba is not installed")
    try:
        cuda.jit(lambda v: None)[1, 1](cupy.ones(1))
    except Exception as error:
        pytest.skip(f"Numba doesn't work here: {error}")

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = 3.0 * x[i]

    def product(x, out):
        kernel[4, 256, cuda.external_stream(cupy.cuda.get_current_stream().ptr)](x, out)

    op = krylith.Operator(product, shape=(1000, 1000), on_device=True)
    x, info = op.cg(cupy.ones(1000))
    assert info == 0 and info.recorded and np.allclose(x.get(), 1 / 3)


def test_memory_is_flat_and_arrays_may_go(gpu):
    A = poisson(300)
    op = krylith.Operator(gpu.matrix(A))
    b = gpu.vector(np.ones(A.shape[0]))
    op.cg(b, M="amg")
    before = [sum(d.values()) for d in op.memory()]
    for k in range(30):
        op.update(gpu.vector(A.data * (1 + 0.01 * k)))
        x, info = op.cg(gpu.vector(np.ones(A.shape[0])), M="amg")
        assert info == 0
    assert [sum(d.values()) for d in op.memory()] == before


def test_too_little_memory_is_a_memory_error():
    cupy = Cupy().lib
    A = krylith.load("gallery:poisson3d:140")
    A.data = np.random.default_rng(1).uniform(1, 2, A.nnz)  # 200 MB at least
    hog = cupy.cuda.alloc(int(cupy.cuda.Device(0).mem_info[0]) - (100 << 20))
    try:
        with pytest.raises(MemoryError):
            krylith.Operator(A, devices=1)
    finally:
        del hog
        cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize("symmetric", [False, True])
def test_gradients_stay_on_the_gpu(symmetric):
    torch = Torch().lib
    import krylith.torch as differentiable

    A = poisson(6) if symmetric else skewed(40)
    pattern = differentiable.Pattern(A.indptr, A.indices, A.shape, symmetric=symmetric)
    values = torch.tensor(A.data, device="cuda:0", requires_grad=True)
    b = torch.linspace(1, 2, A.shape[0], dtype=torch.float64, device="cuda:0", requires_grad=True)
    x = differentiable.solve(values, pattern, b, rtol=1e-12)
    assert x.is_cuda and pattern.info.copies == 0
    (x**2).sum().backward()
    assert values.grad.is_cuda and pattern.adjoint_info.copies == 0
    assert np.allclose(A @ x.detach().cpu().numpy(), b.detach().cpu().numpy())
    adjoint = np.linalg.solve(A.toarray().T, 2 * x.detach().cpu().numpy())
    assert np.allclose(b.grad.cpu().numpy(), adjoint)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    assert np.allclose(values.grad.cpu().numpy(), -adjoint[row] * x.detach().cpu().numpy()[A.indices])
    (differentiable.solve(values, pattern, b, rtol=1e-12) ** 2).sum().backward()
    assert pattern.info.setup_seconds < 1e-3 and pattern.adjoint_info.setup_seconds < 1e-3
