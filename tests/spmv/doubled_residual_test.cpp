// Residuals in doubled precision, by every operator and format, against 80 bits.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/column_operator.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::name_of;
using testing::random_values;
using testing::values_of;

namespace {

/// A system whose b is A x in T: terms of every row cancel, so that a residual by a product is
/// nothing but rounding.
template <class T>
struct cancelling {
    csr_matrix<T> matrix;
    std::vector<T> x;
    std::vector<T> b;
    T factor; ///< A's part in the residual

    cancelling(std::int64_t n, T s, int columns = 1)
        : cancelling(testing::random_matrix(n, 7, 3, 61), s, columns) {}
    cancelling(const csr_matrix<double>& a, T s, int columns = 1)
        : matrix(testing::converted<T>(a)), x(random_values<T>(a.rows * columns, 62)), factor(s) {
        const auto k = static_cast<std::size_t>(columns);
        b.resize(x.size());
        for (std::size_t i = 0; i < b.size(); ++i)
            b[i] = static_cast<T>(static_cast<long double>(s) * product(i, k, false));
    }

    /// Entry i of A x, or of |A||x|.
    [[nodiscard]] long double product(std::size_t i, std::size_t columns, bool sizes) const {
        long double sum = 0;
        const std::size_t row = i / columns;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]);
             k < static_cast<std::size_t>(matrix.row_offsets[row + 1]); ++k) {
            const auto column = static_cast<std::size_t>(matrix.column_indices[k]);
            const long double term =
                static_cast<long double>(matrix.values[k]) * x[column * columns + i % columns];
            sum += sizes ? std::fabs(term) : term;
        }
        return sum;
    }

    /// Checks the residual and the sums of each column.
    void check(const std::vector<T>& r, const std::vector<residual_sums>& sums) const {
        const std::size_t k = sums.size();
        REQUIRE(b.size() % k == 0);
        std::vector<long double> rr(k), sizes(k), largest(k);
        bool good = r.size() == b.size();
        for (std::size_t i = 0; i < b.size(); ++i) {
            const long double value =
                b[i] - static_cast<long double>(factor) * product(i, k, false);
            const long double size =
                std::fabs(static_cast<long double>(factor)) * product(i, k, true) + std::fabs(b[i]);
            // The rounding of sums in double, or of the reference; and of r to T.
            const long double allowed = (sizeof(T) == 4 ? 1e-15L : 1e-18L) * size +
                                        std::numeric_limits<T>::epsilon() * std::fabs(value);
            good = good && std::fabs(value - r[i]) <= allowed;
            rr[i % k] += value * value;
            sizes[i % k] += size * size;
            largest[i % k] = std::max(largest[i % k], std::fabs(value));
        }
        CHECK(good);
        double squares = 0;
        std::int64_t longest = 0;
        for (const T value : matrix.values) squares += static_cast<double>(value) * value;
        for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row)
            longest = std::max(longest, matrix.row_offsets[row + 1] - matrix.row_offsets[row]);
        for (std::size_t c = 0; c < k; ++c) {
            CHECK(sums[c].rr > 0);
            CHECK(sums[c].rr == doctest::Approx(static_cast<double>(rr[c])).epsilon(1e-2));
            CHECK(sums[c].sizes == doctest::Approx(static_cast<double>(sizes[c])).epsilon(1e-12));
            CHECK(sums[c].largest ==
                  doctest::Approx(static_cast<double>(largest[c])).epsilon(1e-2));
            CHECK(sums[c].squares == doctest::Approx(squares).epsilon(1e-12));
            CHECK(sums[c].longest_row == longest);
        }
    }

    /// Checks what an operator of the matrix computes.
    void check(const matrix_operator<T>& a) const {
        execution run(a.comm(), {});
        auto source = testing::make_range_vector(a.range_layout(), x);
        auto rhs = testing::make_range_vector(a.range_layout(), b);
        auto domain = a.make_domain_vector("x");
        auto r = a.make_range_vector();
        fused(run, domain = source);
        const auto sums = a.doubled_residual(factor, domain, rhs, r);
        REQUIRE(sums.size() == static_cast<std::size_t>(a.columns_at_once()));
        CHECK(testing::copies_agree(r));
        check(values_of(r), sums);
    }
};

/// A matrix some of whose rows are full, two of them neighbours.
csr_matrix<double> with_hubs(std::int64_t n) {
    const csr_matrix<double> a = testing::random_matrix(n, 5, 3, 63);
    csr_matrix<double> result{n, n, {0}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
        const bool full = i == 5 || i == 6 || i == n - 1;
        for (std::int64_t j = 0; full && j < n; ++j) {
            result.column_indices.push_back(static_cast<std::int32_t>(n - 1 - j));
            result.values.push_back(1.0 / static_cast<double>(i + j + 1));
        }
        for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
             !full && k < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]);
             ++k) {
            result.column_indices.push_back(a.column_indices[k]);
            result.values.push_back(a.values[k]);
        }
        result.row_offsets.push_back(static_cast<std::int64_t>(result.values.size()));
    }
    return result;
}

template <class T>
void check_operators(const device_group& group) {
    const cancelling<T> whole(730, 1);
    const cancelling<T> scaled(730, T(0.25));
    for (const auto kind : operators::all)
        for (const auto format : testing::formats_of(group.kind())) {
            CAPTURE(name_of(kind));
            CAPTURE(name_of(format));
            const auto a = make_operator(group, whole.matrix, {.kind = kind, .format = format});
            whole.check(*a);
            scaled.check(*a);
        }
}

} // namespace

KRYLITH_GROUP_TEST("doubled residuals: every operator and format, fp64") {
    check_operators<double>(group);
}

KRYLITH_GROUP_TEST("doubled residuals: every operator and format, fp32") {
    check_operators<float>(group);
}

KRYLITH_GROUP_TEST("doubled residuals and diagonals: rows that are too long for a thread") {
    const csr_matrix<double> hubs = with_hubs(2500);
    const cancelling<double> one(hubs, 1);
    for (const auto format : testing::formats_of(group.kind())) {
        CAPTURE(name_of(format));
        const auto a =
            make_operator(group, one.matrix, {.kind = operators::halo, .format = format});
        CHECK(a->kept().longest_row == 2500);
        one.check(*a);
        auto d = a->make_range_vector();
        a->diagonal(d);
        const std::vector<double> found = values_of(d);
        for (const std::size_t i : {5U, 6U, 2499U}) CHECK(found[i] == 1.0 / 2500);
    }
    constexpr int columns = 3;
    const cancelling<double> several(hubs, 1, columns);
    auto single = make_operator(group, hubs, {.kind = operators::halo, .format = formats::csr});
    const layout_handle wide = in_columns(single->layout(), columns);
    several.check(column_operator<double>(std::move(single), {wide, wide}, columns));
}

KRYLITH_GROUP_TEST("doubled residuals: several columns at once") {
    constexpr int columns = 4;
    const cancelling<double> system(310, 2, columns);
    auto single =
        make_operator(group, system.matrix, {.kind = operators::halo, .format = formats::csr});
    const layout_handle wide = in_columns(single->layout(), columns);
    system.check(column_operator<double>(std::move(single), {wide, wide}, columns));
}

KRYLITH_GROUP_TEST("doubled residuals: the norms of A last until it gets new values") {
    const cancelling<double> system(90, 1);
    const auto a = make_operator(group, system.matrix);
    CHECK_FALSE(a->kept().norms.get());
    system.check(*a);
    REQUIRE(a->kept().norms.get());
    CHECK(a->kept().norms.get()->rounding(1, 1, 1, 0) >=
          4 * std::sqrt(a->kept().norms.get()->squares));
    a->update(system.matrix.values);
    CHECK_FALSE(a->kept().norms.get());
    system.check(*a);
    a->drop_facts();
    CHECK_FALSE(a->kept().norms.get());
    // Squares that vanish bound nothing.
    CHECK(matrix_norms{1e-300, 3}.rounding(1e-16, 1, 1, 1) == INFINITY);
    CHECK(matrix_norms{0, 3}.rounding(1e-16, 1, 1, 1) == INFINITY);
    CHECK(matrix_norms{1, 3}.rounding(1e-16, 1, 0, 1) == INFINITY);
    CHECK(matrix_norms{0, 0}.rounding(1e-16, 1, 1, 1) < 1e-15);
}

KRYLITH_GROUP_TEST(
    "doubled residuals: a matrix-free operator has none, other vectors are refused") {
    const auto free = make_matrix_free<double>(group, equal_rows(8, group.size()),
                                               [](const product_call<double>&) {});
    auto x = free->make_domain_vector();
    auto b = free->make_range_vector();
    auto r = free->make_range_vector();
    CHECK(free->doubled_residual(1, x, b, r).empty());
    const auto a = make_operator(group, testing::laplace_1d(8), {.kind = operators::halo});
    CHECK_THROWS_AS((void)a->doubled_residual(1, x, b, r), usage_error);
    const auto without_ghosts = a->make_range_vector();
    const auto of_a = a->make_range_vector();
    auto residual = a->make_range_vector();
    if (group.size() > 1)
        CHECK_THROWS_WITH_AS((void)a->doubled_residual(1, without_ghosts, of_a, residual),
                             doctest::Contains("must come from make_domain_vector()"), usage_error);
}

} // namespace krylith
