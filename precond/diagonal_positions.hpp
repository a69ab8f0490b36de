// Where the diagonal entries of a CSR pattern are, so that new values of it need no search.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace krylith {

/// 8 bytes a row, and 16 for each entry that repeats a place of the diagonal.
class diagonal_positions {
public:
    /// Of a valid pattern. O(nnz).
    diagonal_positions(std::span<const std::int64_t> row_offsets,
                       std::span<const std::int32_t> columns);

    /// Entries of the pattern.
    [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }

    /// The diagonal of the matrix with these values (entries() of them), as diagonal(): 0 where no
    /// entry is stored, repeated entries summed in their order. O(rows).
    template <class T>
    [[nodiscard]] std::vector<T> gather(std::span<const T> values) const;

private:
    std::vector<std::int64_t> first_;                           // [rows] -1: none
    std::vector<std::pair<std::size_t, std::int64_t>> repeats_; // row and position, in their order
    std::int64_t entries_;
};

extern template std::vector<double> diagonal_positions::gather(std::span<const double>) const;
extern template std::vector<float> diagonal_positions::gather(std::span<const float>) const;

} // namespace krylith
