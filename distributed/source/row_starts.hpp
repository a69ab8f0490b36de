// The number of nonzeros before the rows of a matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// All offsets of a matrix in host memory, borrowed; or, of one whose offsets lie on the devices,
/// those of the rows where the devices' rows begin and end.
class row_starts {
public:
    row_starts(std::span<const std::int64_t> row_offsets) // NOLINT: these are its starts
        : offsets_(row_offsets), rows_(static_cast<std::int64_t>(row_offsets.size()) - 1) {}
    /// `before[k]` are the nonzeros before row cuts.begin[k].
    row_starts(const row_partition& cuts, std::vector<std::int64_t> before)
        : rows_(cuts.rows()), cuts_(cuts.begin), before_(std::move(before)) {}

    /// The rows of the matrix.
    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }

    /// The nonzeros before a row. Throws usage_error for one that it doesn't know.
    [[nodiscard]] std::int64_t operator[](std::int64_t row) const {
        if (!offsets_.empty()) return offsets_[static_cast<std::size_t>(row)];
        const auto cut = std::ranges::lower_bound(cuts_, row);
        if (cut == cuts_.end() || *cut != row)
            throw usage_error("row_starts: row " + std::to_string(row) +
                              " is none where a device's rows begin or end");
        return before_[static_cast<std::size_t>(cut - cuts_.begin())];
    }

private:
    std::span<const std::int64_t> offsets_;
    std::int64_t rows_;
    std::vector<std::int64_t> cuts_;
    std::vector<std::int64_t> before_;
};

} // namespace krylith
