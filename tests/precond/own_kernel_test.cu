#include <krylith/tests/precond/own_kernel_test.hpp>

namespace krylith::testing {

namespace {

__global__ void quarter(std::int64_t rows, std::int64_t below, std::int64_t above, const double* r,
                        double* z) {
    const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
    if (i >= rows) return;
    double sum = r[i] / 4;
    for (std::int64_t g = -below; g < 0; ++g) sum += r[g];
    for (std::int64_t g = 0; g < above; ++g) sum += r[rows + g];
    z[i] = sum;
}

} // namespace

void enqueue_quarter(const preconditioner_call<double>& call, std::int64_t below,
                     std::int64_t above) {
    const std::int64_t rows = call.rows.size();
    quarter<<<static_cast<unsigned>((rows + 127) / 128), 128, 0,
              static_cast<cudaStream_t>(call.stream)>>>(rows, below, above, call.r, call.z);
}

} // namespace krylith::testing
