// A simulation that owns its memory: krylith solves in the simulation's arrays, and copies nothing.
//
//     example_embed [POINTS_AN_AXIS [STEPS [DEVICES]]]
//
// Heating of a cube, implicit Euler: (I + dt L) T(t + dt) = T(t) + dt q, with the discrete
// Laplacian L and T and q multiples of its lowest eigenvector, so that T is known exactly. Checks:
// T at the end; krylith keeps no vector between solves. This one runs on slices of the CPU,
// embed_cuda.cu on GPUs with the simulation's own streams.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double dt = 1e-3;
constexpr double heating = 5;

/// What the simulation keeps for one device: its part of the field and of the right-hand side.
struct slab {
    row_range rows;
    std::vector<double> temperature;
    std::vector<double> rhs;
};

/// The lowest eigenvector of the Laplacian on n^3 points.
double mode(std::int64_t n, std::int64_t point) {
    const auto wave = [n](std::int64_t i) {
        return std::sin(std::numbers::pi * static_cast<double>(i + 1) / static_cast<double>(n + 1));
    };
    return wave(point % n) * wave(point / n % n) * wave(point / (n * n));
}

/// The simulation's own work in a step, in place.
void heat_up(std::int64_t n, slab& part) {
    for (std::int64_t row = part.rows.begin; row < part.rows.end; ++row) {
        const auto i = static_cast<std::size_t>(row - part.rows.begin);
        part.rhs[i] = part.temperature[i] + dt * heating * mode(n, row);
    }
}

/// The matrix I + dt L with L = poisson3d / h^2.
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

/// The bytes that krylith holds for vectors on all devices.
std::size_t vector_bytes(const device_group& group) {
    std::size_t sum = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto items = group[rank].ledger().items();
        const auto found = items.find("vectors");
        if (found != items.end()) sum += found->second;
    }
    return sum;
}

bool run(std::int64_t n, int steps, int devices) {
    const auto group = device_group::host(devices);
    const auto a = make_operator(group, implicit_euler(n), {.kind = operators::halo});

    // krylith says which rows are whose, and the simulation allocates.
    std::vector<slab> slabs;
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range rows = a->layout()->rows.owned(rank);
        const auto size = static_cast<std::size_t>(rows.size());
        slabs.push_back({rows, std::vector<double>(size, 0.0), std::vector<double>(size)});
    }
    std::vector<double*> temperature_parts;
    std::vector<double*> rhs_parts;
    for (slab& part : slabs) {
        temperature_parts.push_back(part.temperature.data());
        rhs_parts.push_back(part.rhs.data());
    }
    auto temperature = distributed_vector<double>::borrow(a->layout(), temperature_parts);
    const auto rhs = distributed_vector<double>::borrow(a->layout(), rhs_parts);

    const double h = 1.0 / static_cast<double>(n + 1);
    const double lambda = 12 / (h * h) * std::pow(std::sin(std::numbers::pi * h / 2), 2);
    double amplitude = 0; // T = amplitude * mode
    std::int64_t iterations = 0;
    bool good = true;
    for (int step = 0; step < steps; ++step) {
        for (slab& part : slabs) heat_up(n, part);
        const solve_result result =
            cg(*a, rhs, temperature, {.rtol = 1e-10, .initial_guess = true});
        amplitude = (amplitude + dt * heating) / (1 + dt * lambda);
        iterations += result.iterations;
        good = good && result.converged();
    }
    a->release_workspace(); // what the solver itself kept from step to step
    good = good && vector_bytes(group) == 0;

    double error = 0;
    for (const slab& part : slabs)
        for (std::int64_t row = part.rows.begin; row < part.rows.end; ++row)
            error = std::max(
                error, std::fabs(part.temperature[static_cast<std::size_t>(row - part.rows.begin)] -
                                 amplitude * mode(n, row)));
    std::printf("%d devices: %d steps, %lld iterations, hottest %.6f, error %.1e, vectors of "
                "krylith beside its workspace: %zu bytes\n",
                group.size(), steps, static_cast<long long>(iterations), amplitude, error,
                vector_bytes(group));
    return good && error <= 1e-8 * amplitude;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int n = argc > 1 ? std::atoi(argv[1]) : 25;
        const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
        const int devices = argc > 3 ? std::atoi(argv[3]) : 2;
        if (n < 3 || steps < 1 || devices < 1) {
            std::fputs("example_embed [POINTS_AN_AXIS >= 3 [STEPS >= 1 [DEVICES >= 1]]]\n", stderr);
            return 2;
        }
        const bool good = run(n, steps, devices);
        std::puts(good ? "The field is where the simulation left it, and right." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_embed: %s\n", e.what());
        return 1;
    }
}
