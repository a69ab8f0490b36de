#include <krylith/spmspv/csr_csc_pair/matrix_features.hpp>

#include <krylith/matrix/statistics.hpp>

namespace krylith::spmspv {

matrix_features measure_features(std::span<const std::int64_t> row_offsets, std::int64_t columns) {
    matrix_features result;
    result.columns = columns;
    if (row_offsets.size() < 2) return result;
    const row_lengths lengths = measure_row_lengths(row_offsets);
    result.rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    result.nonzeros = row_offsets.back() - row_offsets.front();
    result.longest_row = static_cast<double>(lengths.most);
    result.shortest_row = static_cast<double>(lengths.least);
    result.mean_row = lengths.mean;
    if (columns > 0)
        result.relative_range =
            static_cast<double>(lengths.most - lengths.least) / static_cast<double>(columns);
    result.deviation = lengths.deviation;
    result.gini = lengths.gini;
    return result;
}

feature_values join(const matrix_features& a, const vector_features& x) {
    feature_values all{};
    const auto put = [&](feature f, double value) { all[static_cast<std::size_t>(f)] = value; };
    put(feature::rows, static_cast<double>(a.rows));
    put(feature::columns, static_cast<double>(a.columns));
    put(feature::nonzeros, static_cast<double>(a.nonzeros));
    put(feature::longest_row, a.longest_row);
    put(feature::shortest_row, a.shortest_row);
    put(feature::mean_row, a.mean_row);
    put(feature::relative_range, a.relative_range);
    put(feature::deviation, a.deviation);
    put(feature::gini, a.gini);
    put(feature::entries, x.entries);
    put(feature::density, x.density);
    put(feature::effective_nonzeros, x.effective_nonzeros);
    put(feature::effective_ratio, x.effective_ratio);
    put(feature::has_pairs, x.has_pairs ? 1 : 0);
    put(feature::has_dense, x.has_dense ? 1 : 0);
    put(feature::has_bits, x.has_bits ? 1 : 0);
    put(feature::wants_pairs, x.wants_pairs ? 1 : 0);
    put(feature::expected_nonzeros, x.expected_nonzeros);
    put(feature::most_nonzeros, x.most_nonzeros);
    put(feature::knows_work, x.knows_work ? 1 : 0);
    return all;
}

} // namespace krylith::spmspv
