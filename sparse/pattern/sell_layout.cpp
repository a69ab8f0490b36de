#include <krylith/sparse/pattern/sell_layout.hpp>

#include <algorithm>
#include <numeric>

namespace krylith {

namespace {

sell_layout lay_out(std::span<const std::int64_t> offsets, std::vector<std::int32_t> rows) {
    sell_layout layout;
    layout.row_count = static_cast<std::int64_t>(offsets.size()) - 1;
    layout.nonzeros = offsets.back() - offsets.front();
    layout.rows = std::move(rows);
    const std::int64_t slices = (layout.row_count + slice_rows - 1) / slice_rows;
    layout.slice_offsets.resize(static_cast<std::size_t>(slices) + 1);
#pragma omp parallel for
    for (std::int64_t s = 0; s < slices; ++s) {
        std::int64_t longest = 0;
        for (std::int64_t place = s * slice_rows; place < (s + 1) * slice_rows; ++place) {
            const std::int64_t row = layout.row_at(place);
            if (row < 0) continue;
            const auto r = static_cast<std::size_t>(row);
            longest = std::max(longest, offsets[r + 1] - offsets[r]);
        }
        layout.slice_offsets[static_cast<std::size_t>(s) + 1] = longest * slice_rows;
    }
    std::partial_sum(layout.slice_offsets.begin(), layout.slice_offsets.end(),
                     layout.slice_offsets.begin());
    return layout;
}

} // namespace

sell_layout make_sell_layout(std::span<const std::int64_t> offsets) {
    sell_layout natural = lay_out(offsets, {});
    if (!sell_sorts(natural.nonzeros, natural.entries() / slice_rows)) return natural;

    const std::int64_t n = natural.row_count;
    const std::int64_t places = natural.slices() * slice_rows;
    std::vector<std::int32_t> rows(static_cast<std::size_t>(places), -1);
    std::iota(rows.begin(), rows.begin() + n, 0);
    const auto length = [&](std::int32_t r) {
        return offsets[static_cast<std::size_t>(r) + 1] - offsets[static_cast<std::size_t>(r)];
    };
#pragma omp parallel for
    for (std::int64_t first = 0; first < n; first += sort_window)
        std::stable_sort(rows.begin() + first, rows.begin() + std::min(n, first + sort_window),
                         [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });
    return lay_out(offsets, std::move(rows));
}

} // namespace krylith
