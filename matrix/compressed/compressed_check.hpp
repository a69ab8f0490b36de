// Validation of compressed arrays, by rows (CSR) or by columns (CSC), in the words of the format.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/matrix/types/longest_row.hpp>

namespace krylith {

/// The names that messages use. Offsets belong to major indices: the rows of CSR, the columns of
/// CSC.
struct compressed_names {
    const char* format;     ///< "CSR matrix"
    const char* major;      ///< "row"
    const char* major_size; ///< "rows"
    const char* across;     ///< "columns"
    const char* offsets;    ///< "row_offsets"
    const char* indices;    ///< "column_indices"
};

inline constexpr compressed_names csr_names{"CSR matrix", "row",         "rows",
                                            "columns",    "row_offsets", "column_indices"};
inline constexpr compressed_names csc_names{"CSC matrix", "column",         "columns",
                                            "rows",       "column_offsets", "row_indices"};

/// Where arrays begin in those of a larger matrix, whose numbers messages then have.
struct compressed_place {
    std::int64_t major = 0; ///< the first row; of CSC, column
    std::int64_t entry = 0; ///< the first entry, which is the first offset
};

/// Throws input_error naming the first offence (major index, position, value, what is allowed).
/// Returns the longest row (of CSC, column), which costs nothing beside the check of the offsets.
/// O(major_size + indices), by all OpenMP threads.
longest_row check_compressed(const compressed_names& names, std::int64_t major_size,
                             std::int64_t across, std::span<const std::int64_t> offsets,
                             std::span<const std::int32_t> indices, std::size_t values,
                             const compressed_place& place = {});

/// The same of the first and the last offset.
void check_ends(const compressed_names& names, std::int64_t major_size, std::int64_t first,
                std::int64_t last, std::int64_t entries, const compressed_place& place = {});
/// The same of offsets alone, of which the first is right.
longest_row check_offsets(const compressed_names& names, std::span<const std::int64_t> offsets,
                          const compressed_place& place = {});

} // namespace krylith
