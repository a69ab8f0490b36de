// Products with SELL slices in each code of columns: sums in the order of the rows, bit for bit.
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/patterns.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::name_of;
using testing::pattern;
using testing::random_numbers;
using testing::random_values;
using testing::values_of;

namespace {

/// Each row has its own column and one from anywhere: 32 bits where a device has all columns.
pattern scattered_pattern(int n) {
    random_numbers random(91);
    pattern p;
    for (std::int32_t r = 0; r < n; ++r) p.add_row({r, random.below(n)});
    return p;
}

std::vector<pattern> sell_product_patterns() {
    return {testing::stencil(7, 64, 5, 4),
            testing::stencil(27, 31, 5, 4),
            testing::stencil(7, 5, 7, 6),
            testing::shuffled(testing::doubled(testing::stencil(7, 33, 3, 3)), 92),
            testing::random_pattern(1500, 30, 1500, 93), // narrow, sorted by length
            scattered_pattern(1000),
            scattered_pattern(100'000)};
}

template <class T>
csr_matrix<T> random_matrix_of(const pattern& p, std::uint64_t seed) {
    return {p.rows(), p.rows(), p.offsets, p.indices,
            random_values<T>(static_cast<std::int64_t>(p.indices.size()), seed)};
}

/// The sum of a row as a thread adds it up.
template <class T>
T row_sum(const csr_matrix<T>& a, const std::vector<T>& x, std::size_t row) {
    T sum = 0;
    for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
         k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
        sum = std::fma(a.values[k], x[static_cast<std::size_t>(a.column_indices[k])], sum);
    return sum;
}

template <class T>
std::string wrong_product(const matrix_operator<T>& a, const csr_matrix<T>& matrix,
                          const std::vector<T>& x0) {
    execution run(a.layout()->comm, {});
    auto source = testing::make_range_vector(a.layout(), x0);
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    fused(run, x = source);
    a.apply(run, T(1), x, T(0), y);
    const auto result = values_of(y);
    const auto bounds = testing::product(matrix, T(1), x0, T(0), x0);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const T sum = row_sum(matrix, x0, i);
        const bool both_nan = std::isnan(sum) && std::isnan(result[i]);
        const bool right =
            a.format_name() == "sell" ? result[i] == sum : bounds[i].template allows<T>(result[i]);
        if (!both_nan && !right)
            return "row " + std::to_string(i) + ": " + std::to_string(result[i]) + " for " +
                   std::to_string(sum);
    }
    return "";
}

template <class T>
std::string wrong_diagonal(const matrix_operator<T>& a, const csr_matrix<T>& matrix) {
    auto d = a.make_range_vector();
    a.diagonal(d);
    const auto result = values_of(d);
    for (std::size_t i = 0; i < result.size(); ++i) {
        T sum = 0;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[i]);
             k < static_cast<std::size_t>(matrix.row_offsets[i + 1]); ++k)
            if (static_cast<std::size_t>(matrix.column_indices[k]) == i) sum += matrix.values[k];
        if (result[i] != sum)
            return "row " + std::to_string(i) + ": " + std::to_string(result[i]) + " for " +
                   std::to_string(sum);
    }
    return "";
}

template <class T>
void check_sell_products(const device_group& group) {
    const auto format = group.kind() == backend::host ? formats::csr : formats::sell;
    int number = 0;
    for (const pattern& p : sell_product_patterns()) {
        CAPTURE(number++);
        const auto first = random_matrix_of<T>(p, 94);
        const auto second = random_matrix_of<T>(p, 95);
        auto x0 = random_values<T>(p.rows(), 96);
        for (const auto kind : {operators::nz, operators::halo}) {
            CAPTURE(name_of(kind));
            const auto a = make_operator(group, first, {kind, format});
            CHECK(wrong_product(*a, first, x0) == "");
            CHECK(wrong_diagonal(*a, first) == "");
            a->update(second.values);
            CHECK(wrong_product(*a, second, x0) == "");
            CHECK(wrong_diagonal(*a, second) == "");
            // Padding reads no x: a NaN reaches the rows that have its column, and no other.
            const T before = x0[0];
            x0[0] = T(NAN);
            CHECK(wrong_product(*a, second, x0) == "");
            x0[0] = before;
        }
    }
}

} // namespace

KRYLITH_GROUP_TEST("sell products: every code of columns, new values, diagonals, fp64") {
    check_sell_products<double>(group);
}
KRYLITH_GROUP_TEST("sell products: every code of columns, new values, diagonals, fp32") {
    check_sell_products<float>(group);
}

} // namespace krylith
