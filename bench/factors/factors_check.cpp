#include <krylith/bench/factors/factors_check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

namespace krylith::bench {

namespace {

constexpr std::int64_t most_sampled = 1000;

struct row_entries {
    std::span<const std::int32_t> columns;
    std::span<const double> values;
};

row_entries entries_of_row(const csr_matrix<double>& a, std::int64_t row) {
    const auto at = static_cast<std::size_t>(row);
    const auto first = static_cast<std::size_t>(a.row_offsets[at]);
    const auto count = static_cast<std::size_t>(a.row_offsets[at + 1]) - first;
    return {std::span(a.column_indices).subspan(first, count),
            std::span(a.values).subspan(first, count)};
}

} // namespace

double error_of_factors(const csr_matrix<double>& a, row_range owned,
                        const csr_matrix<double>& both, const std::vector<std::int32_t>& order) {
    const std::int64_t rows = both.rows;
    const std::int64_t stride = std::max<std::int64_t>(1, rows / most_sampled);
    double largest = 0;
    double worst = 0;
    for (std::int64_t place = 0; place < rows; place += stride) {
        // (L U)_ij - a_ij by the row of j in A, on the pattern of the factors.
        std::map<std::int64_t, double> difference;
        const auto row_at = [&](std::int64_t i) {
            return owned.begin + (order.empty() ? i : order[static_cast<std::size_t>(i)]);
        };
        const row_entries own = entries_of_row(both, place);
        for (const std::int32_t j : own.columns) difference[row_at(j)] = 0;
        for (std::size_t p = 0; p < own.columns.size(); ++p) {
            const std::int32_t k = own.columns[p];
            if (k >= place) { // the diagonal of L is 1
                difference[row_at(k)] += own.values[p];
                continue;
            }
            const row_entries other = entries_of_row(both, k);
            for (std::size_t q = 0; q < other.columns.size(); ++q) {
                if (other.columns[q] < k) continue;
                const auto found = difference.find(row_at(other.columns[q]));
                if (found != difference.end()) found->second += own.values[p] * other.values[q];
            }
        }
        const row_entries given = entries_of_row(a, row_at(place));
        for (std::size_t p = 0; p < given.columns.size(); ++p) {
            const std::int64_t j = given.columns[p];
            if (j < owned.begin || j >= owned.end) continue;
            largest = std::max(largest, std::abs(given.values[p]));
            const auto found = difference.find(j);
            if (found == difference.end()) return std::numeric_limits<double>::infinity();
            found->second -= given.values[p];
        }
        for (const auto& entry : difference) {
            const double error = std::abs(entry.second);
            worst = error <= worst ? worst : error; // also where it is NaN
        }
    }
    return largest == 0 ? worst : worst / largest;
}

} // namespace krylith::bench
