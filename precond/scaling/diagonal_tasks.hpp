// Tasks on the diagonal entries of rows whose columns ascend (device/loops/run_items.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::detail {

/// The place of the diagonal entry of a row; -1 where it has none. Row 0 has it in column
/// first_owned.
template <class T>
[[nodiscard]] KRYLITH_HD inline std::int64_t
place_of_diagonal(const device_csr_view<T>& a, std::int64_t first_owned, std::int64_t row) {
    std::int64_t begin = a.offsets[row];
    std::int64_t end = a.offsets[row + 1];
    while (end - begin > 1) {
        const std::int64_t middle = begin + (end - begin) / 2;
        (a.indices[middle] <= first_owned + row ? begin : end) = middle;
    }
    return begin < end && a.indices[begin] == first_owned + row ? begin : -1;
}

/// to_i = a_ii, 0 where there is none.
template <class T>
struct take_diagonal_task {
    device_csr_view<T> a;
    std::int64_t first_owned;
    T* to;
    KRYLITH_HD void operator()(std::int64_t row) const {
        const std::int64_t place = place_of_diagonal(a, first_owned, row);
        to[row] = place < 0 ? T(0) : a.values[place];
    }
};

/// Gives the entry of each row that has one a value, in an array of the pattern of `a`.
template <class T, class W>
struct set_diagonal_task {
    device_csr_view<T> a;
    std::int64_t first_owned;
    W value;
    W* values;
    KRYLITH_HD void operator()(std::int64_t row) const {
        const std::int64_t place = place_of_diagonal(a, first_owned, row);
        if (place >= 0) values[place] = value;
    }
};

} // namespace krylith::detail
