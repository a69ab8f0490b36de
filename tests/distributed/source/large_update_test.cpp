// Values that are too many for one transfer reach the devices in pieces.
#include <algorithm>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/operator_product.hpp>
#include <krylith/tests/support/oracle.hpp>

namespace krylith {

namespace {

/// A matrix of so many rows with three whole numbers in each but the first and the last, so that
/// products are exact.
csr_matrix<double> three_diagonals(std::int32_t rows, double scale) {
    csr_matrix<double> a;
    a.rows = a.columns = rows;
    a.row_offsets.reserve(static_cast<std::size_t>(rows) + 1);
    for (std::int32_t row = 0; row < rows; ++row) {
        for (std::int32_t column = std::max(0, row - 1); column < std::min(rows, row + 2);
             ++column) {
            a.column_indices.push_back(column);
            a.values.push_back(scale * ((7 * row + 3 * column) % 11 - 5));
        }
        a.row_offsets.push_back(static_cast<std::int64_t>(a.column_indices.size()));
    }
    return a;
}

} // namespace

TEST_CASE("large updates: pieces of values reach their places [cuda]") {
    constexpr std::int32_t rows = 7'000'001; // 21 million values: three pieces
    const auto first = three_diagonals(rows, 1);
    auto second = first;
    for (double& value : second.values) value = 3 - 2 * value;
    std::vector<double> x(static_cast<std::size_t>(rows));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k % 17) - 8;
    const auto expected = testing::plain_product(first, x);
    const auto after = testing::plain_product(second, x);
    for (const auto& group : testing::cuda_groups())
        for (const auto format : {formats::sell, formats::csr, formats::merge}) {
            CAPTURE(testing::describe(group));
            CAPTURE(testing::name_of(format));
            const auto a = make_operator(group, first, {.format = format});
            CHECK(testing::product(*a, x) == expected);
            a->update(second.values);
            CHECK(testing::product(*a, x) == after);
        }
}

} // namespace krylith
