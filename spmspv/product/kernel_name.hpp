// The eight ways to compute y = A x for a sparse x.
// (Li, Ao, Yang, "Adaptive SpMV/SpMSpV on GPUs for Input Vectors of Varied Sparsity", 2020.)
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace krylith::spmspv {

/// The entries that a kernel reads: all rows with a dense x; all rows, where only the entries that
/// x has count; or only the columns of A where x has entries.
enum class direction : std::uint8_t { dense, pull, push };

/// The distribution of rows or columns to threads: one to a thread, warp or block (direct), or
/// equal numbers of rows and entries to all (balanced): no length of a row or column stalls it.
enum class distribution : std::uint8_t { direct, balanced };

/// The way in which column kernels add terms of the same row of y: atomically as they come, or
/// after a stable sort by rows, in the order of x, with the same bits every time.
enum class write_back : std::uint8_t { atomic, sort };

enum class kernel : std::uint8_t {
    spmv,
    spmv_balanced,
    row,
    row_balanced,
    column_atomic,
    column_sort,
    column_balanced_atomic,
    column_balanced_sort
};

inline constexpr int kernel_count = 8;

[[nodiscard]] constexpr direction direction_of(kernel k) noexcept {
    return k <= kernel::spmv_balanced  ? direction::dense
           : k <= kernel::row_balanced ? direction::pull
                                       : direction::push;
}
[[nodiscard]] constexpr distribution distribution_of(kernel k) noexcept {
    const bool balanced = k == kernel::spmv_balanced || k == kernel::row_balanced ||
                          k >= kernel::column_balanced_atomic;
    return balanced ? distribution::balanced : distribution::direct;
}
/// The write-back of a column kernel; atomic for the others, which have no choice.
[[nodiscard]] constexpr write_back write_back_of(kernel k) noexcept {
    return k == kernel::column_sort || k == kernel::column_balanced_sort ? write_back::sort
                                                                         : write_back::atomic;
}
/// Returns the kernel; write_back has no meaning for directions dense and pull.
[[nodiscard]] constexpr kernel kernel_of(direction p, distribution d, write_back w) noexcept {
    const bool balanced = d == distribution::balanced;
    if (p == direction::dense) return balanced ? kernel::spmv_balanced : kernel::spmv;
    if (p == direction::pull) return balanced ? kernel::row_balanced : kernel::row;
    if (w == write_back::sort) return balanced ? kernel::column_balanced_sort : kernel::column_sort;
    return balanced ? kernel::column_balanced_atomic : kernel::column_atomic;
}

inline constexpr std::array<std::string_view, kernel_count> kernel_names = {
    "spmv",
    "spmv-balanced",
    "row",
    "row-balanced",
    "column-atomic",
    "column-sort",
    "column-balanced-atomic",
    "column-balanced-sort"};

[[nodiscard]] constexpr std::string_view to_string(kernel k) noexcept {
    return kernel_names[static_cast<std::size_t>(k)];
}
/// Returns the kernel of a name. Throws usage_error naming the nearest valid name.
[[nodiscard]] kernel parse_kernel(std::string_view name);

} // namespace krylith::spmspv
