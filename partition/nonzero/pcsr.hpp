// pCSR and pCSC: equal nonzeros of a compressed matrix for each part, as views of its unmoved
// arrays. A part is a small matrix in the same format: any kernel for CSR (CSC) runs on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/major_range.hpp>

namespace krylith {

/// By which the entries of a compressed matrix are grouped, into major indices.
enum class major_order { row, column };

/// One part. In the words of CSR: rows share.major indices(), of which row i is row
/// share.start_major + i of the matrix; columns as in the matrix; offsets from 0, one more than
/// major indices. In those of CSC the roles of rows and columns are exchanged: x needs only the
/// entries of share's major indices, and y is a sum over all parts, over its whole length and in
/// the order of parts.
template <class T, major_order Major>
struct compressed_range {
    major_range majors;
    std::int64_t across = 0; ///< columns of a piece of pCSR, rows of one of pCSC
    std::span<const std::int64_t> offsets = {};
    std::span<const std::int32_t> indices = {};
    std::span<const T> values = {}; ///< empty where only the pattern was given
};

template <class T, major_order Major>
struct compressed_parts {
    using value_type = T;
    std::int64_t major_size = 0;                ///< rows of pCSR, columns of pCSC
    std::int64_t across = 0;                    ///< the other of these
    std::vector<major_range> major_ranges = {}; ///< one a part
    std::vector<std::vector<std::int64_t>> offsets =
        {};                                     ///< of each part: major indices + 1, from 0
    std::span<const std::int32_t> indices = {}; ///< of the matrix, borrowed
    std::span<const T> values = {};             ///< likewise

    [[nodiscard]] int parts() const noexcept { return static_cast<int>(major_ranges.size()); }

    /// 0 <= part < parts(). Valid as long as this and the arrays of the matrix.
    [[nodiscard]] compressed_range<T, Major> range(int part) const {
        const auto k = static_cast<std::size_t>(part);
        const std::size_t first = as_size(major_ranges[k].start_idx);
        const std::size_t count = as_size(major_ranges[k].entries());
        return {major_ranges[k], across, offsets[k], indices.subspan(first, count),
                values.empty() ? values : values.subspan(first, count)};
    }

    /// Rows of pCSR that each part computes, columns of pCSC. O(parts).
    [[nodiscard]] row_partition owned() const { return owned_indices(major_ranges); }
};

template <class T>
using pcsr = compressed_parts<T, major_order::row>;
template <class T>
using pcsc = compressed_parts<T, major_order::column>;
template <class T>
using pcsr_range = compressed_range<T, major_order::row>;
template <class T>
using pcsc_range = compressed_range<T, major_order::column>;

/// The pointer array of each part, in O(major indices + parts), by all OpenMP threads on every
/// part.
[[nodiscard]] std::vector<std::vector<std::int64_t>>
part_offsets(std::span<const major_range> major_ranges, std::span<const std::int64_t> offsets);

/// The parts of the matrix, which is borrowed and must be valid. O(parts log major indices + major
/// indices). `values` may be empty. Throws like make_major_ranges, and usage_error if sizes
/// disagree.
template <class T>
[[nodiscard]] pcsr<T> make_pcsr(std::int64_t rows, std::int64_t columns,
                                std::span<const std::int64_t> row_offsets,
                                std::span<const std::int32_t> column_indices,
                                std::span<const T> values, const nonzero_partition& entries);
template <class T>
[[nodiscard]] pcsc<T> make_pcsc(std::int64_t rows, std::int64_t columns,
                                std::span<const std::int64_t> column_offsets,
                                std::span<const std::int32_t> row_indices,
                                std::span<const T> values, const nonzero_partition& entries);

/// Throws usage_error naming the first violation: check() of the major ranges; each part has a
/// pointer array of its size, which is right; sizes of the arrays agree. Shares no code with
/// make_pcsr. O(parts + major indices).
template <class T, major_order Major>
void check(const compressed_parts<T, Major>& parts, std::span<const std::int64_t> offsets);

} // namespace krylith
