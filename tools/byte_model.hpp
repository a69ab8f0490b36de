// The bytes that an iteration can't avoid: the measure of the GB/s that reports give.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace krylith::tool {

/// A matrix in CSR with values of `value_bytes`: values and 4-byte columns, and 4 bytes a row.
struct traffic {
    std::int64_t rows;
    std::int64_t nnz;
    std::int64_t value_bytes;

    /// y = alpha A x + beta y; y is read unless beta = 0.
    [[nodiscard]] double product(bool reads_y = false) const;
    /// One iteration of a solver; nothing where no model has been worked out.
    [[nodiscard]] std::optional<double> iteration(std::string_view solver,
                                                  std::string_view preconditioner) const;
};

} // namespace krylith::tool
