// The arrays of a CSR matrix, valid or not, from bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::fuzz {

/// Arrays whose values are multiples of 1/4 up to 32, so that sums of them times small integers are
/// exact in any order.
struct csr_arrays {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> indices;
    std::vector<double> values;

    [[nodiscard]] csr_view<double> view() const {
        return {rows, columns, offsets, indices, values};
    }
};

/// Takes arrays. Bits of the first byte choose: bit 0, sizes and numbers of any value; bit 1,
/// mostly valid matrices (offsets that ascend, columns in range); neither, small numbers as they
/// come; bit 2, square matrices.
[[nodiscard]] csr_arrays take_csr_arrays(std::span<const std::uint8_t> bytes);

} // namespace krylith::fuzz
