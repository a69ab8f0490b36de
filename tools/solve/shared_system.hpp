// A system of which each process reads and keeps its share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/local_files.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/solvers/table/solver_method.hpp>
#include <krylith/tools/cli/vector_source.hpp>
#include <krylith/tools/solve/solve_run.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::tool {

template <class T>
struct shared_system {
    own_rows<T> rows;              ///< until the matrix is made of them
    distributed_csr<T> matrix;     ///< empty before
    std::vector<T> b;              ///< the entries of this process
    bool constants_vanish = false; ///< A times ones is 0; found out for --rhs row-sums

    /// Collective.
    void make_matrix(const communicator& comm) {
        matrix = distributed_csr<T>(comm, rows.parts(comm), rows.columns);
        rows.matrix = {};
    }
};

/// Whether several processes share what they are asked for: a file is to be solved with as it is,
/// by an operator that needs no process to have the whole matrix. Collective.
[[nodiscard]] bool can_be_shared(const solve_request& request, const communicator& comm,
                                 const solver_method& solver);

/// Loads it; nothing where the matrix isn't square. Collective.
template <class T>
[[nodiscard]] std::optional<shared_system<T>>
load_shared(const communicator& comm, const solve_request& request, const vector_source& rhs,
            file_report& report);

/// Writes x, of which each process has its entries, where one of them is asked to. Collective.
template <class T>
void save_shared(const solve_request& request, const vector<T>& x, const std::vector<T>& values);

} // namespace krylith::tool
