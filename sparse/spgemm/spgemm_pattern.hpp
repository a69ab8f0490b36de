// What kernels of the symbolic phase take beside the patterns.
#pragma once

#include <cstdint>

#include <krylith/sparse/device_csr.hpp>

namespace krylith {

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
