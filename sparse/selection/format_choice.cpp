#include <krylith/sparse/selection/format_choice.hpp>

#include <krylith/sparse/pattern/sell_layout.hpp>

namespace krylith {

namespace {

constexpr double most_sell_padding = 0.10;
constexpr std::int64_t fewest_of_csr_row =
    4; ///< mean length of rows from which csr beats sorted sell

/// The fewest nonzeros for which formats are taken that cut rows anywhere: where rows are uneven,
/// and where they are not.
constexpr std::int64_t fewest_uneven = 1'000'000;
constexpr std::int64_t fewest_of_csr5 = 10'000'000;

bool is_uneven(const block_lengths& rows) {
    constexpr std::int64_t multiprocessors = 132;
    constexpr std::int64_t most_in_long_rows = 10; // one nonzero in so many
    if (rows.nonzeros < fewest_uneven) return false;
    return rows.longest.nonzeros > rows.nonzeros / multiprocessors ||
           rows.in_long_rows > rows.nonzeros / most_in_long_rows;
}

} // namespace

format_kind choose_format(const block_lengths& rows, result_use use) {
    if (use != result_use::repeated && is_uneven(rows)) return formats::csr5;
    const bool padded = sell_padding(rows.nonzeros, rows.slice_columns) > most_sell_padding;
    if (!padded && !rows.sorted) return formats::sell;
    if (use == result_use::own && rows.nonzeros >= fewest_of_csr5) return formats::csr5;
    const bool short_rows = rows.nonzeros < fewest_of_csr_row * rows.rows;
    return !padded && use == result_use::own && short_rows ? formats::sell : formats::csr;
}

format_kind choose_borrowing_format(const block_lengths& rows, result_use use) {
    return use != result_use::repeated && is_uneven(rows) ? formats::merge : formats::csr;
}

format_kind least_regular(format_kind one, format_kind other) {
    for (const format_kind first : {formats::csr5, formats::csr, formats::sell})
        if (one == first || other == first) return first;
    return one;
}

} // namespace krylith
