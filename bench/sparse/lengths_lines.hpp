// What lengths of rows cost a product, apart from where its columns lie, as lines of `krylith bench
// sparse`.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/bench/sparse/sparse_kernel.hpp>

namespace krylith::bench {

/// Offsets of `rows` rows with `nonzeros` entries: the lengths are as 1, 1/2, 1/3 ... (Zipf), at
/// places that are random and the same everywhere; the longest row has about nonzeros / ln(rows).
[[nodiscard]] std::vector<std::int64_t> zipf_offsets(std::int64_t rows, std::int64_t nonzeros);

/// Offsets of rows of equal lengths, up to one entry.
[[nodiscard]] std::vector<std::int64_t> equal_offsets(std::int64_t rows, std::int64_t nonzeros);

/// A line for csr5, merge and what auto takes (on the host: csr): the entries of the matrix, in
/// their order, are cut into rows of Zipf's lengths; the peer is the same format with rows of equal
/// lengths. So both read the same columns in the same order.
template <class T>
[[nodiscard]] std::vector<sparse_line> lengths_lines(const sparse_case<T>& c);

} // namespace krylith::bench
