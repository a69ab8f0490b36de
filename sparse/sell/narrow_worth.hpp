// Whether a SELL matrix gains by values that its products read in fewer bytes.
#pragma once

#include <cstdint>

namespace krylith {

/// Whether a kernel that takes values from a table, or in half their bits, is faster for a matrix
/// with values of `value_bytes` where all slices are so. Rows of less than 14 entries on average
/// wait for the memory twice, for their codes and for x: with 7 points, fp64, it loses 6% on 64^3
/// rows and wins 10% on 128^3 and 16% on 256^3; in fp32 it loses on all. With 81 entries it wins
/// 2.4 and 1.9 times.
[[nodiscard]] bool narrow_pays(std::int64_t value_bytes, std::int64_t slices,
                               std::int64_t slice_columns) noexcept;

/// Whether a matrix with so many groups of 256 rows gains by the kernel of its stencil
/// (sparse/sell/stencil_kernel.cuh).
[[nodiscard]] bool stencil_pays(std::int64_t groups) noexcept;

/// While it lives, narrow values and kernels of stencils pay for any matrix.
class mocked_narrow_worth {
public:
    mocked_narrow_worth() noexcept;
    ~mocked_narrow_worth();
    mocked_narrow_worth(const mocked_narrow_worth&) = delete;
    mocked_narrow_worth& operator=(const mocked_narrow_worth&) = delete;
};

} // namespace krylith
