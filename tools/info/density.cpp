#include <krylith/tools/info/density.hpp>

#include <algorithm>
#include <cmath>

namespace krylith::tool {

namespace {

using counts = std::vector<std::int64_t>;

void add(counts& to, const counts& from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

#pragma omp declare reduction(add:counts                                                           \
                              : add(omp_out, omp_in))                                              \
    initializer(omp_priv = counts(omp_orig.size(), 0))

int cells(double fraction, std::int64_t extent, int most) {
    const auto wanted = static_cast<std::int64_t>(std::lround(fraction));
    return static_cast<int>(
        std::clamp<std::int64_t>(wanted, 1, std::min<std::int64_t>(extent, most)));
}

} // namespace

double density::level(int row, int column) const {
    const std::int64_t count = at(row, column);
    if (count == 0) return 0;
    return std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
}

template <class T>
density measure_density(const csr_view<T>& a, int most_rows, int most_columns) {
    density d;
    d.matrix_rows = a.rows;
    d.matrix_columns = a.columns;
    if (a.rows == 0 || a.columns == 0) return d;
    const double side = std::max(static_cast<double>(a.rows) / most_rows,
                                 static_cast<double>(a.columns) / most_columns); // of a cell
    d.rows = cells(static_cast<double>(a.rows) / side, a.rows, most_rows);
    d.columns = cells(static_cast<double>(a.columns) / side, a.columns, most_columns);
    // Columns are below 2^31 and cells few, so that this fits.
    const std::int64_t width = d.columns;
    counts all(static_cast<std::size_t>(d.rows) * static_cast<std::size_t>(width), 0);
    std::vector<std::int64_t> first(static_cast<std::size_t>(width) + 1); // column of each cell
    for (std::int64_t c = 0; c <= width; ++c)
        first[static_cast<std::size_t>(c)] = (c * a.columns + width - 1) / width;
    const double per_column = static_cast<double>(width) / static_cast<double>(a.columns);
#pragma omp parallel for schedule(static) reduction(add : all)
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t cell_row = row * d.rows / a.rows; // no memory holds 2^54 rows
        std::int64_t* const line = all.data() + cell_row * width;
        const auto end = a.row_offsets[static_cast<std::size_t>(row) + 1];
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)]; k < end; ++k) {
            const std::int64_t column = a.column_indices[static_cast<std::size_t>(k)];
            // The product may be off by one at the border of a cell.
            auto c = static_cast<std::int64_t>(static_cast<double>(column) * per_column);
            c = std::min(c, width - 1);
            if (column < first[static_cast<std::size_t>(c)]) --c;
            if (column >= first[static_cast<std::size_t>(c) + 1]) ++c;
            ++line[c];
        }
    }
    d.counts = std::move(all);
    d.most = *std::max_element(d.counts.begin(), d.counts.end());
    return d;
}

template density measure_density(const csr_view<double>&, int, int);
template density measure_density(const csr_view<float>&, int, int);

} // namespace krylith::tool
