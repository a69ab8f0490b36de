// Solves tridiag(-1, 4, -1) of any number of rows in fp32, each process with its own rows and
// columns of 64 bits; then no process knows more than those. A program that is linked with no MPI.
//
//     krylith_rows_tests ROWS
//
// x is 1 everywhere. Each process says how far off it is, and what it needed at most.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <vector>

#include <sys/resource.h>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/driver_link.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_parts.hpp>

using namespace krylith;

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

struct slab {
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> columns; ///< of the whole matrix
    std::vector<float> values;
};

slab assemble(row_range own, std::int64_t rows) {
    slab part;
    const auto before = [&](std::int64_t row) { // entries of earlier rows
        return row == 0 ? 0 : 3 * row - 1 - (row == rows ? 1 : 0);
    };
    const std::int64_t first = before(own.begin);
    const auto entries = static_cast<std::size_t>(before(own.end) - first);
    part.offsets.resize(static_cast<std::size_t>(own.size()) + 1);
    part.columns.resize(entries);
    part.values.resize(entries);
#pragma omp parallel for
    for (std::int64_t row = own.begin; row < own.end; ++row) {
        auto k = static_cast<std::size_t>(before(row) - first);
        part.offsets[static_cast<std::size_t>(row - own.begin)] = before(row) - first;
        for (std::int64_t column = row - 1; column <= row + 1; ++column) {
            if (column < 0 || column == rows) continue;
            part.columns[k] = column;
            part.values[k] = column == row ? 4.0f : -1.0f;
            ++k;
        }
    }
    part.offsets.back() = before(own.end) - first;
    return part;
}

/// A 1.
std::vector<float> right_hand_side(row_range own, std::int64_t rows) {
    std::vector<float> b(static_cast<std::size_t>(own.size()), 2.0f);
    if (own.size() != 0 && own.begin == 0) b.front() += 1;
    if (own.size() != 0 && own.end == rows) b.back() += 1;
    return b;
}

bool run(std::int64_t rows) {
    auto link = link_launched_processes(300);
    machine_share share;
    if (link) share = find_machine_share(*link);
    const device_group devices = cuda_device_count() > 0
                                     ? device_group::cuda(share.gpus(1))
                                     : device_group::host(1, {.host_threads = share.threads()});
    const communicator comm = link ? communicator(devices, link) : communicator(devices);
    const row_partition owners = equal_rows(rows, comm.ranks());
    const int rank = comm.first_local();
    const row_range own = owners.owned(rank);

    auto begin = clock_type::now();
    std::optional<slab> mine = assemble(own, rows);
    const double assembled = seconds_since(begin);
    begin = clock_type::now();
    std::vector<csr_part<float>> parts(static_cast<std::size_t>(comm.ranks()));
    parts[static_cast<std::size_t>(rank)] = {own.size(), mine->offsets.data(), mine->columns.data(),
                                             mine->values.data()};
    const distributed_csr<float> matrix(comm, parts, owners);
    mine.reset();
    const auto a = make_operator(matrix, {.borrow = true}); // which has no second copy
    const double set_up = seconds_since(begin);

    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    b.upload_local(right_hand_side(own, rows));
    begin = clock_type::now();
    const solve_result result = cg(*a, b, x, {.rtol = 1e-8});
    const double solved = seconds_since(begin);
    std::vector<float> found(static_cast<std::size_t>(own.size()));
    x.download_local(found);
    float off = 0;
    for (const float entry : found) off = std::max(off, std::abs(entry - 1));
    rusage usage{};
    (void)getrusage(RUSAGE_SELF, &usage);
    std::printf("rank %d of %d: %lld of %lld rows, assembled in %.1f s, set up in %.1f, %s after "
                "%lld iterations in %.2f s, off by %.1e; peak %.2f GB, on the device %.2f GB\n",
                rank, comm.ranks(), static_cast<long long>(own.size()),
                static_cast<long long>(rows), assembled, set_up,
                result.converged() ? "converged" : "not converged",
                static_cast<long long>(result.iterations), solved, static_cast<double>(off),
                static_cast<double>(usage.ru_maxrss) * 1024 / 1e9,
                static_cast<double>(comm[rank].ledger().peak()) / 1e9);
    // ||b - A x|| <= 1e-8 ||b||, and A is at least 2.
    return result.converged() && off <= 2e-8 * std::sqrt(static_cast<double>(rows)) + 1e-6;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return argc == 2 && run(std::atoll(argv[1])) ? 0 : 1;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "tests/mpi/rows.cpp: %s\n", failure.what());
        return 1;
    }
}
