#include <krylith/sparse/selection/format_choice.hpp>

#include <krylith/sparse/pattern/sell_layout.hpp>

namespace krylith {

namespace {

constexpr double most_sell_padding = 0.10;
constexpr std::int64_t fewest_of_csr_row =
    4; ///< mean length of rows from which csr beats sorted sell

bool is_uneven(const block_lengths& rows) {
    constexpr std::int64_t fewest_nonzeros = 1'000'000;
    constexpr std::int64_t multiprocessors = 132;
    constexpr std::int64_t most_in_long_rows = 10; // one nonzero in so many
    if (rows.nonzeros < fewest_nonzeros) return false;
    return rows.longest.nonzeros > rows.nonzeros / multiprocessors ||
           rows.in_long_rows > rows.nonzeros / most_in_long_rows;
}

} // namespace

format_kind choose_format(const block_lengths& rows, result_use use) {
    if (use != result_use::repeated && is_uneven(rows)) return formats::merge;
    if (sell_padding(rows.nonzeros, rows.slice_columns) > most_sell_padding) return formats::csr;
    if (!rows.sorted) return formats::sell;
    const bool short_rows = rows.nonzeros < fewest_of_csr_row * rows.rows;
    return use == result_use::own && short_rows ? formats::sell : formats::csr;
}

format_kind least_regular(format_kind one, format_kind other) {
    for (const format_kind first : {formats::merge, formats::csr, formats::sell})
        if (one == first || other == first) return first;
    return one;
}

} // namespace krylith
