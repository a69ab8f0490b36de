// What a solver with a preconditioner moves in an iteration and keeps, by the models of their rows
// in the tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith::model {

/// What an iteration depends on beside the matrix. Functions that take one throw usage_error for
/// names that aren't in the tables.
struct method {
    std::string_view solver;
    std::string_view preconditioner;
    std::int64_t restart = 0;    ///< gmres
    std::int64_t iterations = 0; ///< gmres: of the whole solve, of which the mean is taken
    bool damped = false;         ///< lsqr: x is damped
};

/// Products with A in an iteration.
[[nodiscard]] int products(const method& m);

/// How often an iteration reads or writes a whole vector, its products and the work of the
/// preconditioner left out; nothing where no model has been worked out.
[[nodiscard]] std::optional<double> vector_passes(const method& m);

/// Bytes that the preconditioner reads and writes in an iteration on a device; nothing where no
/// model has been worked out.
[[nodiscard]] std::optional<double> preconditioner_traffic(const method& m,
                                                           const preconditioner_size& size);

/// The solver's vectors, b and x.
[[nodiscard]] solver_vectors vectors(const method& m);

/// Bytes that the preconditioner keeps on a device; nothing where no model has been worked out.
[[nodiscard]] std::optional<std::int64_t> preconditioner_bytes(const method& m,
                                                               const preconditioner_size& size);

/// A matrix in CSR with values of `value_bytes`: values and 4-byte columns, and 4 bytes a row.
struct traffic {
    std::int64_t rows;
    std::int64_t nnz;
    std::int64_t value_bytes;
    std::int64_t columns = -1; ///< -1: as many as rows

    /// y = alpha A x + beta y; y is read unless beta = 0.
    [[nodiscard]] double product(bool reads_y = false) const;
    /// One iteration; nothing where no model has been worked out.
    [[nodiscard]] std::optional<double> iteration(const method& m) const;

private:
    [[nodiscard]] std::int64_t columns_or_rows() const { return columns < 0 ? rows : columns; }
};

} // namespace krylith::model
