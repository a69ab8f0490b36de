// How much memory a process needs for its share of a system, in KiB: one line a process. A program
// that is linked with no MPI.
//
//     krylith_memory_tests slabs N    assembles own planes of the 7-point Laplacian on N^3 points
//     krylith_memory_tests FILE       reads own rows of a file
//
// Then cg with jacobi, a few iterations: they need what a solve needs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/driver_link.hpp>
#include <krylith/distributed/local_files.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_parts.hpp>

using namespace krylith;

namespace {

std::int64_t peak() {
    rusage usage{};
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

struct slab {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns; ///< of the whole matrix
    std::vector<double> values;
};

slab assemble(std::int64_t n, row_range planes) {
    slab part;
    const auto points = static_cast<std::size_t>(planes.size() * n * n);
    part.offsets.reserve(points + 1);
    part.columns.reserve(7 * points);
    part.values.reserve(7 * points);
    for (std::int64_t z = planes.begin; z < planes.end; ++z)
        for (std::int64_t y = 0; y < n; ++y)
            for (std::int64_t x = 0; x < n; ++x) {
                const std::int64_t row = (z * n + y) * n + x;
                const auto add = [&](bool there, std::int64_t column, double value) {
                    if (!there) return;
                    part.columns.push_back(static_cast<std::int32_t>(column));
                    part.values.push_back(value);
                };
                add(z > 0, row - n * n, -1);
                add(y > 0, row - n, -1);
                add(x > 0, row - 1, -1);
                add(true, row, 6);
                add(x < n - 1, row + 1, -1);
                add(y < n - 1, row + n, -1);
                add(z < n - 1, row + n * n, -1);
                part.offsets.push_back(static_cast<std::int64_t>(part.values.size()));
            }
    return part;
}

void solve_with(const matrix_operator<double>& a) {
    const jacobi<double> m(a);
    auto b = a.make_range_vector();
    auto x = a.make_domain_vector();
    const auto own = static_cast<std::size_t>(b.local_rows().size());
    b.upload_local(std::vector<double>(own, 1.0));
    (void)cg(a, b, x, {.max_iterations = 5}, m);
    std::vector<double> found(own);
    x.download_local(found);
}

void with_slabs(const communicator& comm, std::int64_t n) {
    const row_partition planes = equal_rows(n, comm.ranks());
    const int rank = comm.first_local();
    const slab mine = assemble(n, planes.owned(rank));
    std::vector<csr_part<double>> parts(static_cast<std::size_t>(comm.ranks()));
    parts[static_cast<std::size_t>(rank)] = {static_cast<std::int64_t>(mine.offsets.size()) - 1,
                                             mine.offsets.data(), mine.columns.data(),
                                             mine.values.data()};
    const auto a = make_operator<double>(comm, parts);
    solve_with(*a);
}

void with_file(const communicator& comm, const char* path) {
    std::optional<own_rows<double>> mine = load_rows<double>(comm, path);
    const distributed_csr<double> matrix(comm, mine->parts(comm), mine->columns);
    mine.reset();
    const auto a = make_operator(matrix, {.borrow = true});
    solve_with(*a);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    try {
        const auto link = link_launched_processes(60);
        const device_group own = device_group::host(1, {.host_threads = 1});
        const communicator comm = link ? communicator(own, link) : communicator(own);
        if (std::string(argv[1]) == "slabs")
            with_slabs(comm, argc > 2 ? std::atoll(argv[2]) : 0);
        else
            with_file(comm, argv[1]);
        std::printf("%lld\n", static_cast<long long>(peak()));
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "tests/mpi/memory.cpp: %s\n", failure.what());
        return 1;
    }
    return 0;
}
