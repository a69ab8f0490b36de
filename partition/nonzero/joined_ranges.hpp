// The way back: one matrix from its parts, wherever their arrays lie on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/partition/nonzero/pcoo.hpp>
#include <krylith/partition/nonzero/pcsr.hpp>

namespace krylith {

/// The arrays of a matrix in CSR or CSC.
template <class T>
struct compressed_arrays {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> indices;
    std::vector<T> values;

    friend bool operator==(const compressed_arrays&, const compressed_arrays&) = default;
};

template <class T>
struct coo_arrays {
    std::vector<std::int32_t> row_indices;
    std::vector<std::int32_t> column_indices;
    std::vector<T> values;

    friend bool operator==(const coo_arrays&, const coo_arrays&) = default;
};

/// The matrix of `major_size` rows (pCSR) or columns (pCSC) whose parts these are, in order: its
/// arrays are those that the parts were made from. O(entries + major indices). Throws usage_error
/// naming the first part that doesn't fit: check_chain(); sizes of its arrays; pointers from 0,
/// never descending, to the part's entries; a flagged major index has entries here and at the end
/// of the part before.
template <class T, major_order Major>
[[nodiscard]] compressed_arrays<T> join(std::span<const compressed_range<T, Major>> ranges,
                                        std::int64_t major_size);
template <class T, major_order Major>
[[nodiscard]] compressed_arrays<T> join(const compressed_parts<T, Major>& parts) {
    std::vector<compressed_range<T, Major>> ranges;
    ranges.reserve(parts.major_ranges.size());
    for (int k = 0; k < parts.parts(); ++k) ranges.push_back(parts.range(k));
    return join(std::span<const compressed_range<T, Major>>(ranges), parts.major_size);
}

/// Likewise for coordinates. Throws usage_error if parts don't follow each other from entry 0, or
/// sizes of a part's arrays are not those of its share.
template <class T>
[[nodiscard]] coo_arrays<T> join(std::span<const pcoo_range<T>> ranges);
template <class T>
[[nodiscard]] coo_arrays<T> join(const pcoo<T>& parts) {
    std::vector<pcoo_range<T>> ranges;
    ranges.reserve(parts.major_ranges.size());
    for (int k = 0; k < parts.parts(); ++k) ranges.push_back(parts.range(k));
    return join(std::span<const pcoo_range<T>>(ranges));
}

} // namespace krylith
