// The entry lines of a Matrix Market file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/market/memory_limit.hpp>
#include <krylith/matrix/market/number.hpp>

namespace krylith::market {

/// Reads the entries of a file as they stand: of a coordinate file unsorted, one half of a
/// symmetric matrix; of an array the values alone, column by column. Blank lines between them are
/// skipped. Throws input_error at the first defect. Lines are read by all OpenMP threads, with the
/// same outcome on any number of them. Memory grows with what was read, not with what the size line
/// declares, and is refused beyond the limit. `counts` are added up.
template <class T>
[[nodiscard]] coo_matrix<T> read_entries(line_source& source, const header& h,
                                         const memory_limit& limit, tally& counts);

/// Reads the lines of a part of a file, before which any number of others stand. Nothing where one
/// of them is not as it must be: find_flaw() then says which line of the whole file, and why.
template <class T>
[[nodiscard]] std::optional<coo_matrix<T>> read_part(line_source& part, const header& h,
                                                     const memory_limit& limit, tally& counts);

/// Throws the input_error that read_entries() throws, which doesn't keep the entries; returns where
/// there is none. The source is read on behind the header.
template <class T>
void find_flaw(line_source& source, const header& h);

/// The number of the first line that gives an entry at (row, column), counted from 0, in a file
/// that was read before; 0 if it has changed since.
[[nodiscard]] std::int64_t line_of_entry(line_source& source, const header& h, std::int64_t row,
                                         std::int64_t column);

} // namespace krylith::market
