// A simulation that owns its GPUs' memory and streams: krylith solves in the simulation's arrays,
// on the simulation's streams, and copies nothing.
//
//     example_embed_cuda [POINTS_AN_AXIS [STEPS]]
//
// The problem of embed.cpp: heating of a cube, implicit Euler, (I + dt L) T(t + dt) = T(t) + dt q,
// with T and q multiples of the lowest eigenvector of the discrete Laplacian L, so that T is known
// exactly. Checks: T at the end; krylith keeps no vector between solves. On all GPUs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double dt = 1e-3;
constexpr double heating = 5;

void succeed(cudaError_t status, const char* what) {
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// The lowest eigenvector of the Laplacian on n^3 points.
__host__ __device__ double mode(std::int64_t n, std::int64_t point) {
    const double step = 3.14159265358979323846 / static_cast<double>(n + 1);
    return sin(step * static_cast<double>(point % n + 1)) *
           sin(step * static_cast<double>(point / n % n + 1)) *
           sin(step * static_cast<double>(point / (n * n) + 1));
}

/// The simulation's own part of a step.
__global__ void heat_up(std::int64_t n, std::int64_t first, std::int64_t count,
                        const double* temperature, double* rhs) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (i < count) rhs[i] = temperature[i] + dt * heating * mode(n, first + i);
}

/// The streams of the simulation, one a GPU. They outlive the group that borrows them.
class own_streams {
public:
    explicit own_streams(int count) : streams_(static_cast<std::size_t>(count)) {
        for (int gpu = 0; gpu < count; ++gpu) {
            succeed(cudaSetDevice(gpu), "cudaSetDevice");
            succeed(cudaStreamCreateWithFlags(&streams_[static_cast<std::size_t>(gpu)],
                                              cudaStreamNonBlocking),
                    "cudaStreamCreateWithFlags");
        }
    }
    own_streams(const own_streams&) = delete;
    own_streams& operator=(const own_streams&) = delete;
    ~own_streams() {
        for (cudaStream_t stream : streams_)
            if (stream != nullptr) cudaStreamDestroy(stream);
    }
    [[nodiscard]] cudaStream_t operator[](int gpu) const {
        return streams_[static_cast<std::size_t>(gpu)];
    }
    [[nodiscard]] std::vector<void*> pointers() const { return {streams_.begin(), streams_.end()}; }

private:
    std::vector<cudaStream_t> streams_;
};

/// What the simulation keeps on one GPU: its part of the field and of the right-hand side.
class slab {
public:
    slab(int gpu, row_range rows) : gpu_(gpu), rows_(rows) {
        const auto bytes = static_cast<std::size_t>(rows.size()) * sizeof(double);
        succeed(cudaSetDevice(gpu), "cudaSetDevice");
        succeed(cudaMalloc(&temperature_, bytes), "cudaMalloc");
        succeed(cudaMalloc(&rhs_, bytes), "cudaMalloc");
        succeed(cudaMemset(temperature_, 0, bytes), "cudaMemset");
        succeed(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    slab(slab&& other) noexcept
        : gpu_(other.gpu_),
          rows_(other.rows_),
          temperature_(std::exchange(other.temperature_, nullptr)),
          rhs_(std::exchange(other.rhs_, nullptr)) {}
    slab& operator=(slab&&) = delete;
    ~slab() {
        cudaFree(temperature_);
        cudaFree(rhs_);
    }

    /// Enqueues; nobody waits.
    void step(std::int64_t n, cudaStream_t stream) const {
        if (rows_.size() == 0) return;
        succeed(cudaSetDevice(gpu_), "cudaSetDevice");
        heat_up<<<static_cast<unsigned>((rows_.size() + 255) / 256), 256, 0, stream>>>(
            n, rows_.begin, rows_.size(), temperature_, rhs_);
        succeed(cudaGetLastError(), "heat_up");
    }
    [[nodiscard]] double error(std::int64_t n, double amplitude) const {
        std::vector<double> values(static_cast<std::size_t>(rows_.size()));
        succeed(cudaMemcpy(values.data(), temperature_, values.size() * sizeof(double),
                           cudaMemcpyDeviceToHost),
                "cudaMemcpy");
        double largest = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            largest = std::max(
                largest,
                std::fabs(values[i] -
                          amplitude * mode(n, rows_.begin + static_cast<std::int64_t>(i))));
        return largest;
    }
    [[nodiscard]] double* temperature() const { return temperature_; }
    [[nodiscard]] double* rhs() const { return rhs_; }

private:
    int gpu_;
    row_range rows_;
    double* temperature_ = nullptr;
    double* rhs_ = nullptr;
};

/// I + dt L with L = poisson3d / h^2.
csr_matrix<double> implicit_euler(std::int64_t n) {
    auto matrix = poisson3d<double>(n);
    const double factor = dt * static_cast<double>((n + 1) * (n + 1));
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k)
            matrix.values[k] =
                factor * matrix.values[k] + (matrix.column_indices[k] == row ? 1.0 : 0.0);
    return matrix;
}

/// Bytes that krylith holds for vectors on all devices.
std::size_t vector_bytes(const device_group& group) {
    std::size_t sum = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto items = group[rank].ledger().items();
        const auto found = items.find("vectors");
        if (found != items.end()) sum += found->second;
    }
    return sum;
}

bool run(std::int64_t n, int steps) {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < cuda_device_count(); ++gpu) gpus.push_back(gpu);
    const own_streams streams(static_cast<int>(gpus.size()));
    const auto group = device_group::cuda(gpus, {.streams = streams.pointers()});
    const auto a = make_operator(group, implicit_euler(n), {.kind = operator_kind::halo});

    // krylith says which rows are whose, and the simulation allocates.
    std::vector<slab> slabs;
    std::vector<double*> temperature_parts;
    std::vector<double*> rhs_parts;
    for (int rank = 0; rank < group.size(); ++rank) {
        slabs.emplace_back(rank, a->share_layout()->rows.owned(rank));
        temperature_parts.push_back(slabs.back().temperature());
        rhs_parts.push_back(slabs.back().rhs());
    }
    auto temperature = vector<double>::borrow(a->share_layout(), temperature_parts);
    const auto rhs = vector<double>::borrow(a->share_layout(), rhs_parts);

    const double h = 1.0 / static_cast<double>(n + 1);
    const double lambda = 12 / (h * h) * std::pow(std::sin(std::numbers::pi * h / 2), 2);
    double amplitude = 0; // T = amplitude * mode
    std::int64_t iterations = 0;
    bool good = true;
    for (int step = 0; step < steps; ++step) {
        for (int rank = 0; rank < group.size(); ++rank)
            slabs[static_cast<std::size_t>(rank)].step(n, streams[rank]);
        // Enqueued on the same streams, so after the kernels; back when the temperature is there.
        const solve_result result =
            cg(*a, rhs, temperature, {.rtol = 1e-10, .initial_guess = true});
        amplitude = (amplitude + dt * heating) / (1 + dt * lambda);
        iterations += result.iterations;
        good = good && result.converged() && vector_bytes(group) == 0;
    }

    double error = 0;
    for (const slab& part : slabs) error = std::max(error, part.error(n, amplitude));
    std::printf("%d GPUs: %d steps, %lld iterations, hottest %.6f, error %.1e, vectors of krylith "
                "between solves: %zu bytes\n",
                group.size(), steps, static_cast<long long>(iterations), amplitude, error,
                vector_bytes(group));
    return good && error <= 1e-8 * amplitude;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int n = argc > 1 ? std::atoi(argv[1]) : 65;
        const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
        if (n < 3 || steps < 1) {
            std::fputs("example_embed_cuda [POINTS_AN_AXIS >= 3 [STEPS >= 1]]\n", stderr);
            return 2;
        }
        const bool good = run(n, steps);
        std::puts(good ? "The field is where the simulation left it, and right." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_embed_cuda: %s\n", e.what());
        return 1;
    }
}
