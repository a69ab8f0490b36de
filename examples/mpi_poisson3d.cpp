// A system that no process has whole: each assembles its own rows, and all solve together.
//
//     mpirun -n 4 example_mpi_poisson3d [POINTS_AN_AXIS]
//
// Poisson's equation on a cube of n^3 points, cut into slabs. Process k has the planes of its slab,
// with columns of the whole matrix, on a GPU if there is one, else on its share of the cores. b is
// A times a vector that is known. Checks: x, and that all processes have the same result.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include <krylith/adapters/mpi.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_parts.hpp>

using namespace krylith;

namespace {

/// The rows of planes [begin, end) of the 7-point Laplacian on n^3 points, and b there.
struct slab {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> columns; ///< of the whole matrix
    std::vector<double> values;
    std::vector<double> b;
};

double solution(std::int64_t point) {
    return 1 + 0.5 * std::sin(0.01 * static_cast<double>(point));
}

slab assemble(std::int64_t n, row_range planes) {
    slab part;
    const auto add = [&](std::int64_t column, double value) {
        part.columns.push_back(column);
        part.values.push_back(value);
        part.b.back() += value * solution(column);
    };
    for (std::int64_t z = planes.begin; z < planes.end; ++z)
        for (std::int64_t y = 0; y < n; ++y)
            for (std::int64_t x = 0; x < n; ++x) {
                const std::int64_t row = (z * n + y) * n + x;
                part.b.push_back(0);
                if (z > 0) add(row - n * n, -1);
                if (y > 0) add(row - n, -1);
                if (x > 0) add(row - 1, -1);
                add(row, 6);
                if (x < n - 1) add(row + 1, -1);
                if (y < n - 1) add(row + n, -1);
                if (z < n - 1) add(row + n * n, -1);
                part.offsets.push_back(static_cast<std::int64_t>(part.values.size()));
            }
    return part;
}

/// What this process takes of its machine.
device_group own_devices(const machine_share& share) {
    if (cuda_device_count() > 0) return device_group::cuda(share.gpus(1));
    return device_group::host(1, {.host_threads = share.threads()});
}

bool run(std::int64_t n) {
    auto link = link_processes(MPI_COMM_WORLD);
    const device_group devices = own_devices(find_machine_share(*link));
    const communicator comm(devices, std::move(link));
    const int rank = comm.first_local();
    const row_partition planes = equal_rows(n, comm.ranks());
    const slab mine = assemble(n, planes.owned(rank));

    // An entry a rank; those of others stay empty.
    std::vector<csr_part<double>> parts(static_cast<std::size_t>(comm.ranks()));
    parts[static_cast<std::size_t>(rank)] = {static_cast<std::int64_t>(mine.b.size()),
                                             mine.offsets.data(), mine.columns.data(),
                                             mine.values.data()};
    row_partition rows = planes; // who owns which entries of x
    for (std::int64_t& begin : rows.begin) begin *= n * n;
    const distributed_csr<double> matrix(comm, parts, rows);
    const auto a = make_operator(matrix);
    const amg<double> m(*a, matrix);

    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    b.upload_local(mine.b);
    const solve_result result = cg(*a, b, x, {}, m);
    std::vector<double> found(mine.b.size());
    x.download_local(found);

    double error = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        error = std::fmax(error, std::fabs(found[i] - solution(x.local_rows().begin +
                                                               static_cast<std::int64_t>(i))));
    std::vector<double> errors(static_cast<std::size_t>(comm.ranks()), error);
    comm.all_gather(errors);
    for (const double one : errors) error = std::fmax(error, one);
    if (rank == 0)
        std::printf("%d processes, %lld rows: %s after %lld iterations, largest error %.1e\n",
                    comm.drivers(), static_cast<long long>(matrix.rows()), to_string(result.reason),
                    static_cast<long long>(result.iterations), error);
    return result.converged() && error < 1e-5;
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    bool good = false;
    try {
        good = run(argc > 1 ? std::atoll(argv[1]) : 20);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
    }
    if (!good) MPI_Abort(MPI_COMM_WORLD, 1); // MPI_Finalize would wait for processes that are gone
    MPI_Finalize();
    return 0;
}
