// Products of neighbouring CSR rows of few entries and of different lengths, a vector of rows at
// once. One by one they cost more by branches that processors predict wrongly than by their
// entries.
#pragma once

#include <cstdint>

namespace krylith::host {

/// Whether there is gather_rows() in this build: where row_product() fuses products and sums too.
#if defined(__x86_64__) && defined(__FMA__)
inline constexpr bool built_with_gathers = true;
#else
inline constexpr bool built_with_gathers = false;
#endif
/// Whether gather_rows() is worth it on this processor, which it needs: from Sapphire Rapids on.
/// Earlier ones of Intel's with AVX-512 make gathers slow against Downfall (CVE-2022-40982), and
/// those of AMD's load one number after the other. Compilers therefore do not gather by themselves.
[[nodiscard]] bool gathers() noexcept;
/// Rows that are multiplied at once.
inline constexpr int gathered_rows = 64;
/// Rows among which one has more entries are multiplied one by one.
inline constexpr int longest_gathered_row = 32;

/// Whether `gathered_rows` rows may be short and of many lengths. Branches are predicted well where
/// nearly all have one length, as those of a stencil.
template <class Offset>
[[nodiscard]] inline bool may_gather(const Offset* offsets) {
    constexpr int rows = gathered_rows;
    if (offsets[rows] - offsets[0] > rows * longest_gathered_row) return false;
    const Offset usual = offsets[rows / 2 + 1] - offsets[rows / 2];
    int others = 0;
    for (int r = 0; r < rows; ++r) others += offsets[r + 1] - offsets[r] != usual ? 1 : 0;
    return others >= rows / 8;
}

/// Makes the sums of `gathered_rows` rows, of which may_gather() is true, with the bits of
/// row_product(), and returns true; or false where one is long. `offsets` are those of the rows and
/// of the entries behind; `columns` and `values` begin with the first row's.
template <class T, class Offset>
[[nodiscard]] bool gather_rows(const Offset* offsets, const std::int32_t* columns, const T* values,
                               const T* x, T* sums);

} // namespace krylith::host
