// The features that the choice of a kernel depends on: numbers about the matrix, measured once, and
// about the vector, at each call. (Li, Ao, Yang 2020, table 1.)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <krylith/matrix/csr.hpp>

namespace krylith::spmspv {

struct matrix_features {
    std::int64_t rows = 0;     ///< m
    std::int64_t columns = 0;  ///< n
    std::int64_t nonzeros = 0; ///< nnz
    double longest_row = 0;
    double shortest_row = 0;
    double mean_row = 0;
    double relative_range = 0; ///< (longest - shortest) / columns
    double deviation = 0;      ///< standard deviation of row lengths
    double gini = 0; ///< Gini coefficient of row lengths: 0 all alike, towards 1 a few have all
};

/// Returns the features of rows with these offsets (the first need not be 0). O(rows + longest
/// row).
[[nodiscard]] matrix_features measure_features(std::span<const std::int64_t> row_offsets,
                                               std::int64_t columns);

struct vector_features {
    double entries = 0;            ///< nnz_x
    double density = 0;            ///< entries / columns
    double effective_nonzeros = 0; ///< nonzeros in the columns where x has entries
    double effective_ratio = 0;    ///< effective nonzeros / nonzeros
    bool has_pairs = false;        ///< the forms that x has
    bool has_dense = false;
    bool has_bits = false;
    bool wants_pairs = false; ///< the form of y that is asked for; false: dense
    double expected_nonzeros =
        0; ///< density * nonzeros: effective ones if entries of x are spread evenly
    double most_nonzeros = 0; ///< entries * longest row, at most all: rows stand for columns
    bool knows_work = false;  ///< effective nonzeros are known: to ask for them costs nothing
};

/// All features by place, as decision trees know them.
enum class feature : std::uint8_t {
    rows,
    columns,
    nonzeros,
    longest_row,
    shortest_row,
    mean_row,
    relative_range,
    deviation,
    gini,
    entries,
    density,
    effective_nonzeros,
    effective_ratio,
    has_pairs,
    has_dense,
    has_bits,
    wants_pairs,
    expected_nonzeros,
    most_nonzeros,
    knows_work
};
inline constexpr int feature_count = 20;

inline constexpr std::array<std::string_view, feature_count> feature_names = {"rows",
                                                                              "columns",
                                                                              "nonzeros",
                                                                              "longest_row",
                                                                              "shortest_row",
                                                                              "mean_row",
                                                                              "relative_range",
                                                                              "deviation",
                                                                              "gini",
                                                                              "entries",
                                                                              "density",
                                                                              "effective_nonzeros",
                                                                              "effective_ratio",
                                                                              "has_pairs",
                                                                              "has_dense",
                                                                              "has_bits",
                                                                              "wants_pairs",
                                                                              "expected_nonzeros",
                                                                              "most_nonzeros",
                                                                              "knows_work"};

using feature_values = std::array<double, feature_count>;

[[nodiscard]] feature_values join(const matrix_features& a, const vector_features& x);

} // namespace krylith::spmspv
