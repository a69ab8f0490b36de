#include <krylith/sparse/selection/format_choice.hpp>

#include <algorithm>

#include <krylith/sparse/csr/csr_tiles.hpp>
#include <krylith/sparse/sell/sell_layout.hpp>

namespace krylith {

namespace {

constexpr double most_sell_padding = 0.10;
constexpr std::int64_t fewest_of_csr_row =
    4; ///< mean length of rows from which csr beats sorted sell

bool is_uneven(std::span<const std::int64_t> offsets) {
    constexpr std::int64_t fewest_nonzeros = 1'000'000;
    constexpr std::int64_t multiprocessors = 132;
    constexpr std::int64_t most_in_long_rows = 10; // one nonzero in so many
    const std::int64_t nonzeros = offsets.back() - offsets.front();
    if (nonzeros < fewest_nonzeros) return false;
    std::int64_t longest = 0;
    std::int64_t in_long_rows = 0;
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        const std::int64_t length = offsets[row + 1] - offsets[row];
        longest = std::max(longest, length);
        if (length > csr_tile_entries) in_long_rows += length;
    }
    return longest > nonzeros / multiprocessors || in_long_rows > nonzeros / most_in_long_rows;
}

} // namespace

format_kind choose_format(std::span<const std::int64_t> offsets, result_use use) {
    if (use != result_use::repeated && is_uneven(offsets)) return formats::merge;
    const sell_layout layout = make_sell_layout(offsets);
    if (layout.padding() > most_sell_padding) return formats::csr;
    if (layout.rows.empty()) return formats::sell;
    const bool short_rows = layout.nonzeros < fewest_of_csr_row * layout.row_count;
    return use == result_use::own && short_rows ? formats::sell : formats::csr;
}

format_kind least_regular(format_kind one, format_kind other) {
    for (const format_kind first : {formats::merge, formats::csr, formats::sell})
        if (one == first || other == first) return first;
    return one;
}

} // namespace krylith
