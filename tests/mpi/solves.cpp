// Solves by the processes that a launcher has started, in a program that is linked with no MPI: the
// same bits as one process with as many devices.
//
//     krylith_process_tests [auto|posted [DEVICES]]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/spmv/matrix_parts.hpp>

using namespace krylith;

namespace {

std::vector<double> right_hand_side(std::int64_t rows) {
    std::vector<double> b(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + static_cast<double>(i % 5);
    return b;
}

/// Solves with a preconditioner, then again with other values. Returns each x, and the histories.
std::vector<double> solve_twice(const communicator& comm, csr_matrix<double> matrix,
                                const char* preconditioner) {
    const auto a = make_operator(comm, matrix, {.kind = operators::halo});
    auto m = make_preconditioner(preconditioner, *a, csr_view<double>(matrix));
    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    b.upload(right_hand_side(matrix.rows));
    std::vector<double> all;
    for (const double scale : {1.0, 3.0}) {
        for (double& value : matrix.values) value *= scale;
        if (scale != 1) {
            a->update(matrix.values);
            m.update(csr_view<double>(matrix));
        }
        x.zero();
        const solve_result result = gmres(*a, b, x, {.max_iterations = 60, .history = true}, m);
        std::vector<double> found(static_cast<std::size_t>(matrix.rows));
        x.download(found);
        all.insert(all.end(), found.begin(), found.end());
        all.insert(all.end(), result.history.begin(), result.history.end());
    }
    return all;
}

std::vector<double> solve_by_choice(const communicator& comm, const csr_matrix<double>& matrix) {
    std::vector<double> x(static_cast<std::size_t>(matrix.rows));
    (void)solve<double>(comm, matrix, right_hand_side(matrix.rows), x);
    return x;
}

int wrong = 0;

/// Solves with all processes, and the first one alone: all must have the same x and history.
void compare(const std::string& what, const communicator& comm, const communicator& whole,
             const std::function<std::vector<double>(const communicator&)>& work) {
    std::vector<std::vector<double>> found(static_cast<std::size_t>(comm.ranks()));
    const std::vector<double> mine = work(comm);
    for (const int rank : comm.local()) found[static_cast<std::size_t>(rank)] = mine;
    comm.all_gather_lists(found);
    if (!comm.is_local(0)) return;
    const std::vector<double> expected = work(whole);
    for (const auto& one : found) {
        if (one == expected) continue;
        std::fprintf(stderr, "tests/mpi/solves.cpp: other bits: %s\n", what.c_str());
        ++wrong;
    }
}

} // namespace

int main(int count, char** given) {
    try {
        const group_options one_thread{.host_threads = 1};
        // "posted": as if each were on a machine of its own.
        const communicator_options options{.separate_machines =
                                               count > 1 && std::string(given[1]) == "posted"};
        const int devices = count > 2 ? std::atoi(given[2]) : 1; // of each process
        const communicator comm(device_group::host(devices, one_thread),
                                link_launched_processes(60), options);
        const device_group whole = device_group::host(
            comm.ranks(), {.host_threads = comm.ranks()}); // of the first process
        // Of the last, most ranks have no row.
        for (const char* name : {"poisson3d:8", "elasticity3d:3", "poisson1d:2"}) {
            const auto matrix = make_gallery<double>(name);
            for (const char* preconditioner :
                 {"none", "jacobi", "block-jacobi", "chebyshev", "gauss-seidel", "fsai", "spai",
                  "ilu0", "ic0", "ilut", "amg", "amg:coarsening=classical"})
                compare(std::string(name) + ", " + preconditioner, comm, whole,
                        [&](const communicator& on) {
                            return solve_twice(on, matrix, preconditioner);
                        });
            compare(std::string(name) + ", chosen", comm, whole,
                    [&](const communicator& on) { return solve_by_choice(on, matrix); });
        }
        // What one process does wrong all throw, and they go on.
        std::string words;
        try {
            auto matrix = make_gallery<double>("poisson1d:9");
            if (comm.is_local(comm.ranks() - 1)) matrix.column_indices[1] = -7;
            (void)make_operator(comm, matrix);
        } catch (const input_error& failure) {
            words = failure.what();
        }
        if (words.find("-7") == std::string::npos) ++wrong;
        (void)solve_by_choice(comm, make_gallery<double>("poisson1d:9"));
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "tests/mpi/solves.cpp: %s\n", failure.what());
        return 1;
    }
    return wrong == 0 ? 0 : 1;
}
