// The bytes that an iteration on a matrix in CSR can't avoid: the measure of the GB/s that reports
// give, the same for every format. SELL may store less (sparse/sell/sell_view.hpp): its figures can
// exceed the rate of the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace krylith::tool {

/// What an iteration depends on beside the matrix.
struct method {
    std::string_view solver;
    std::string_view preconditioner;
    std::int64_t restart = 0;    ///< gmres
    std::int64_t iterations = 0; ///< gmres: of the whole solve, of which the mean is taken
};

/// Products with A in an iteration.
[[nodiscard]] int products(const method& m);

/// How often an iteration reads or writes a whole vector, its products left out; nothing where no
/// model has been worked out.
[[nodiscard]] std::optional<double> vector_passes(const method& m);

/// A matrix in CSR with values of `value_bytes`: values and 4-byte columns, and 4 bytes a row.
struct traffic {
    std::int64_t rows;
    std::int64_t nnz;
    std::int64_t value_bytes;

    /// y = alpha A x + beta y; y is read unless beta = 0.
    [[nodiscard]] double product(bool reads_y = false) const;
    /// One iteration; nothing where no model has been worked out.
    [[nodiscard]] std::optional<double> iteration(const method& m) const;
};

} // namespace krylith::tool
