// The pattern of a matrix on a device, as kernels of the symbolic phase take it.
#pragma once

#include <cstdint>

#include <krylith/sparse/device_csr.hpp>

namespace krylith {

struct csr_pattern {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t nonzeros;
    const std::int64_t* offsets;
    const std::int32_t* indices;
    bool ascends = false; ///< known: columns ascend strictly in all rows
};

template <class T>
[[nodiscard]] csr_pattern device_pattern_of(const device_csr<T>& a) {
    const device_csr_view<T> v = a.view();
    return {v.rows, v.columns, v.nonzeros, v.offsets, v.indices, a.ascends()};
}

/// The most columns of C that a plan keeps.
[[nodiscard]] inline std::int64_t most_pooled(const csr_pattern& a, const csr_pattern& b) {
    constexpr std::int64_t places = 0xfffffffe; // in 32 bits
    return a.nonzeros + b.nonzeros < places ? a.nonzeros + b.nonzeros : places;
}

/// Some rows of a product, ascending: all of them where `rows` is null.
struct row_list {
    const std::int32_t* rows;
    std::int64_t count;
};

} // namespace krylith
