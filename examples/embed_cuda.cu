// A simulation that owns its GPUs' memory and streams: krylith solves with the simulation's matrix,
// in its arrays, on its streams, and copies no values.
//
//     example_embed_cuda [POINTS_AN_AXIS [STEPS]]
//
// The problem of embed.cpp: heating of a cube, implicit Euler, (I + dt L) T(t + dt) = T(t) + dt q,
// with T and q multiples of the lowest eigenvector of the discrete Laplacian L, so that T is known
// exactly. The time step changes with every step, so the simulation writes new matrix values in
// place. Checks: T at the end; krylith keeps neither vectors nor matrix values between solves. On
// all GPUs.
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
#include <krylith/partition/row_partition.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_parts.hpp>

using namespace krylith;

namespace {

constexpr double heating = 5;

double time_step(int step) {
    return 1e-3 * (1 + 0.25 * (step % 4));
}

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

/// The number of entries of the rows before `point` in the 7-point matrix of n^3 points.
std::int64_t entries_before(std::int64_t n, std::int64_t point) {
    std::int64_t count = 7 * point;
    // The six faces lack neighbours in the rows before.
    const std::int64_t plane = n * n;
    const std::int64_t rest = point % plane;
    count -= (point + n - 1) / n + point / n;                                   // x = 0, x = n - 1
    count -= point / plane * 2 * n;                                             // y, whole planes
    count -= std::min(rest, n) + std::max<std::int64_t>(0, rest - (plane - n)); // y, the last one
    count -= std::min(point, plane) + std::max<std::int64_t>(0, point - (n * plane - plane)); // z
    return count;
}

/// Computes rows of I + factor L, L the 7-point Laplacian times h^2: the simulation's own assembly.
__global__ void assemble(std::int64_t n, std::int64_t first, std::int64_t count, double factor,
                         const std::int32_t* offsets, std::int32_t* columns, double* values) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    const std::int64_t point = first + i;
    std::int32_t k = offsets[i];
    const auto add = [&](bool there, std::int64_t column, double value) {
        if (!there) return;
        columns[k] = static_cast<std::int32_t>(column);
        values[k++] = value;
    };
    const std::int64_t x = point % n;
    const std::int64_t y = point / n % n;
    const std::int64_t z = point / (n * n);
    add(z > 0, point - n * n, -factor);
    add(y > 0, point - n, -factor);
    add(x > 0, point - 1, -factor);
    add(true, point, 1 + 6 * factor);
    add(x < n - 1, point + 1, -factor);
    add(y < n - 1, point + n, -factor);
    add(z < n - 1, point + n * n, -factor);
}

__global__ void heat_up(std::int64_t n, std::int64_t first, std::int64_t count, double dt,
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

/// Memory of one GPU.
template <class T>
class device_array {
public:
    explicit device_array(std::int64_t size) : bytes_(static_cast<std::size_t>(size) * sizeof(T)) {
        succeed(cudaMalloc(&data_, bytes_), "cudaMalloc");
        succeed(cudaMemset(data_, 0, bytes_), "cudaMemset");
    }
    device_array(device_array&& other) noexcept
        : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
    device_array& operator=(device_array&&) = delete;
    ~device_array() { cudaFree(data_); }
    [[nodiscard]] T* data() const { return data_; }

private:
    std::size_t bytes_;
    T* data_ = nullptr;
};

/// What the simulation keeps on one GPU: its rows of the matrix, of the field and of the
/// right-hand side.
class slab {
public:
    slab(int gpu, std::int64_t n, row_range rows)
        : gpu_(select(gpu)),
          n_(n),
          rows_(rows),
          offsets_(rows.size() + 1),
          columns_(entries_before(n, rows.end) - entries_before(n, rows.begin)),
          values_(entries_before(n, rows.end) - entries_before(n, rows.begin)),
          temperature_(rows.size()),
          rhs_(rows.size()) {
        std::vector<std::int32_t> offsets;
        for (std::int64_t row = rows.begin; row <= rows.end; ++row)
            offsets.push_back(
                static_cast<std::int32_t>(entries_before(n, row) - entries_before(n, rows.begin)));
        succeed(cudaMemcpy(offsets_.data(), offsets.data(), offsets.size() * sizeof(std::int32_t),
                           cudaMemcpyHostToDevice),
                "cudaMemcpy");
        succeed(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }

    /// Enqueues the matrix and the right-hand side of a step; nobody waits.
    void step(double dt, cudaStream_t stream) const {
        if (rows_.size() == 0) return;
        select(gpu_);
        const auto blocks = static_cast<unsigned>((rows_.size() + 255) / 256);
        const double factor = dt * static_cast<double>((n_ + 1) * (n_ + 1));
        assemble<<<blocks, 256, 0, stream>>>(n_, rows_.begin, rows_.size(), factor, offsets_.data(),
                                             columns_.data(), values_.data());
        succeed(cudaGetLastError(), "assemble");
        heat_up<<<blocks, 256, 0, stream>>>(n_, rows_.begin, rows_.size(), dt, temperature_.data(),
                                            rhs_.data());
        succeed(cudaGetLastError(), "heat_up");
    }
    [[nodiscard]] double error(double amplitude) const {
        std::vector<double> values(static_cast<std::size_t>(rows_.size()));
        succeed(cudaMemcpy(values.data(), temperature_.data(), values.size() * sizeof(double),
                           cudaMemcpyDeviceToHost),
                "cudaMemcpy");
        double largest = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            largest = std::max(
                largest,
                std::fabs(values[i] -
                          amplitude * mode(n_, rows_.begin + static_cast<std::int64_t>(i))));
        return largest;
    }
    [[nodiscard]] csr_part<double> matrix() const {
        return {rows_.size(), offsets_.data(), columns_.data(), values_.data()};
    }
    [[nodiscard]] double* temperature() const { return temperature_.data(); }
    [[nodiscard]] double* rhs() const { return rhs_.data(); }

private:
    /// Selects the GPU before the arrays are allocated.
    static int select(int gpu) {
        succeed(cudaSetDevice(gpu), "cudaSetDevice");
        return gpu;
    }

    int gpu_;
    std::int64_t n_;
    row_range rows_;
    device_array<std::int32_t> offsets_;
    device_array<std::int32_t> columns_;
    device_array<double> values_;
    device_array<double> temperature_;
    device_array<double> rhs_;
};

/// The bytes that krylith holds on all devices for an item.
std::size_t bytes_of(const device_group& group, const char* item) {
    std::size_t sum = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto items = group[rank].ledger().items();
        const auto found = items.find(item);
        if (found != items.end()) sum += found->second;
    }
    return sum;
}

bool run(std::int64_t n, int steps) {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < cuda_device_count(); ++gpu) gpus.push_back(gpu);
    const own_streams streams(static_cast<int>(gpus.size()));
    const auto group = device_group::cuda(gpus, {.streams = streams.pointers()});

    // The simulation says which rows are whose, and assembles them where they are.
    const row_partition rows = equal_rows(n * n * n, group.size());
    std::vector<slab> slabs;
    std::vector<csr_part<double>> matrix_parts;
    std::vector<double*> temperature_parts;
    std::vector<double*> rhs_parts;
    for (int rank = 0; rank < group.size(); ++rank) {
        slabs.emplace_back(rank, n, rows.owned(rank));
        slabs.back().step(time_step(0), streams[rank]);
        matrix_parts.push_back(slabs.back().matrix());
        temperature_parts.push_back(slabs.back().temperature());
        rhs_parts.push_back(slabs.back().rhs());
    }
    const auto a =
        make_operator<double>(group, matrix_parts, {.kind = operators::halo, .borrow = true});
    auto temperature = distributed_vector<double>::borrow(a->layout(), temperature_parts);
    const auto rhs = distributed_vector<double>::borrow(a->layout(), rhs_parts);

    const double h = 1.0 / static_cast<double>(n + 1);
    const double lambda = 12 / (h * h) * std::pow(std::sin(std::numbers::pi * h / 2), 2);
    double amplitude = 0; // T = amplitude * mode
    std::int64_t iterations = 0;
    bool good = true;
    for (int step = 0; step < steps; ++step) {
        const double dt = time_step(step);
        for (int rank = 0; rank < group.size(); ++rank)
            slabs[static_cast<std::size_t>(rank)].step(dt, streams[rank]);
        // The solver is enqueued on the same streams, so it runs after the kernels and reads their
        // values in place; it returns when the temperature is there.
        const solve_result result =
            cg(*a, rhs, temperature, {.rtol = 1e-10, .initial_guess = true});
        amplitude = (amplitude + dt * heating) / (1 + dt * lambda);
        iterations += result.iterations;
        good = good && result.converged();
    }
    a->release_workspace(); // what the solver itself kept from step to step
    good = good && bytes_of(group, "vectors") == 0;

    double error = 0;
    for (const slab& part : slabs) error = std::max(error, part.error(amplitude));
    const auto values = static_cast<std::size_t>(entries_before(n, n * n * n)) * sizeof(double);
    std::printf("%d GPUs: %d steps, %lld iterations, hottest %.6f, error %.1e\n", group.size(),
                steps, static_cast<long long>(iterations), amplitude, error);
    std::printf(
        "krylith beside its workspace: %zu bytes of vectors, %zu of the matrix, whose values are "
        "%zu\n",
        bytes_of(group, "vectors"), bytes_of(group, "matrix"), values);
    return good && error <= 1e-8 * amplitude && bytes_of(group, "matrix") < values;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int n = argc > 1 ? std::atoi(argv[1]) : 65;
        const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
        if (n < 3 || n > 600 || steps < 1) {
            std::fputs("example_embed_cuda [POINTS_AN_AXIS 3..600 [STEPS >= 1]]\n", stderr);
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
