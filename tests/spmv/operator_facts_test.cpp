// Facts of operators: symmetry, signs and sizes of the diagonal, and when they are forgotten.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/operator_facts.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::from_dense;
using testing::name_of;

namespace {

template <class T>
operator_facts facts_on(const device_group& group, const csr_matrix<double>& matrix,
                        operator_kind kind = operators::halo) {
    const auto a = make_operator(group, testing::converted<T>(matrix), {.kind = kind});
    return facts_of(*a);
}

/// One entry of a symmetric matrix, beside the diagonal, is multiplied by 1 + by.
csr_matrix<double> disturbed(csr_matrix<double> matrix, double by) {
    auto k =
        static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(matrix.rows / 2)]);
    if (matrix.column_indices[k] == matrix.rows / 2) ++k;
    matrix.values[k] *= 1 + by;
    return matrix;
}

} // namespace

KRYLITH_GROUP_TEST("facts: a symmetric matrix is one in every operator and precision") {
    const auto matrix = poisson2d<double>(23, 19, random_scaling{3});
    for (const auto kind : testing::different_operators()) {
        CAPTURE(name_of(kind));
        const auto facts = facts_on<double>(group, matrix, kind);
        CHECK(facts.symmetric);
        CHECK(facts.asymmetry < 1e-14);
        CHECK(facts.positive_forms);
        CHECK(facts.may_be_positive_definite());
        CHECK(facts.products == 2);
        CHECK(facts_on<float>(group, matrix, kind).symmetric);
    }
}

KRYLITH_GROUP_TEST("facts: one entry that differs from its mirror by a millionth is seen in fp64") {
    for (const auto kind : testing::different_operators()) {
        CAPTURE(name_of(kind));
        const auto even = poisson2d<double>(40, 40);
        CHECK_FALSE(facts_on<double>(group, disturbed(even, 1e-6), kind).symmetric);
        CHECK(facts_on<double>(group, disturbed(even, 1e-14), kind).symmetric);
        CHECK_FALSE(facts_on<float>(group, disturbed(even, 1), kind).symmetric);
    }
}

// The entry is 1e-12 of the largest: without the scaling by the diagonal it would be rounding.
KRYLITH_GROUP_TEST("facts: an asymmetry among small entries counts as one among large ones") {
    auto matrix = testing::laplace_1d(60);
    const auto scale = [](std::int64_t row) { return row < 30 ? 1.0 : 1e6; };
    for (std::int64_t i = 0; i < matrix.rows; ++i)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i) + 1]);
             ++k) {
            matrix.values[k] *= scale(i) * scale(matrix.column_indices[k]);
            if (i == 10 && matrix.column_indices[k] == 11) matrix.values[k] *= 1.5;
        }
    const auto facts = facts_on<double>(group, matrix);
    CHECK_FALSE(facts.symmetric);
    CHECK(facts.asymmetry > 1e-3);
}

KRYLITH_GROUP_TEST("facts: the estimate is near ||A - A'|| / ||A||") {
    const auto a = facts_on<double>(group, testing::shift_matrix(300, 1));
    CHECK(a.asymmetry > 0.14); // sqrt(2)
    CHECK(a.asymmetry < 14);
    CHECK_FALSE(a.symmetric);
}

KRYLITH_GROUP_TEST("facts: signs and sizes of the diagonal, each row counted once") {
    std::vector<double> d(500);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = i % 5 == 0 ? -0.5 : 2.0 + double(i % 7);
    d[17] = 0;
    d[18] = 1e-3;
    d[499] = -4096;
    for (const auto kind : testing::different_operators()) {
        CAPTURE(name_of(kind));
        const auto facts = facts_on<double>(group, testing::diagonal_matrix(d), kind);
        REQUIRE(facts.diagonal.has_value());
        CHECK(facts.diagonal->length == 500);
        CHECK(facts.diagonal->negative == 101);
        CHECK(facts.diagonal->positive == 398);
        CHECK(facts.diagonal->zeros == 1);
        CHECK(facts.diagonal->least == -4096);
        CHECK(facts.diagonal->most == 8);
        CHECK(facts.diagonal->smallest == 1e-3);
        CHECK(facts.diagonal->span() == doctest::Approx(4096e3));
        CHECK_FALSE(facts.diagonal->invertible());
        CHECK_FALSE(facts.may_be_positive_definite());
    }
}

KRYLITH_GROUP_TEST("facts: entries without a finite inverse count with no sign") {
    const double tiny = std::numeric_limits<double>::denorm_min();
    const auto facts = facts_on<double>(group, testing::diagonal_matrix({1, tiny, 2, -tiny}));
    CHECK(facts.diagonal->positive == 2);
    CHECK(facts.diagonal->negative == 0);
    CHECK(facts.diagonal->zeros == 0);
    CHECK_FALSE(facts.diagonal->invertible());
}

KRYLITH_GROUP_TEST("facts: of no rows, of one row, of a matrix of zeros") {
    const auto none = facts_on<double>(group, testing::from_triplets(0, {}));
    CHECK(none.may_be_positive_definite());
    CHECK(none.diagonal->constant());
    CHECK(none.diagonal->span() == 1);
    const auto one = facts_on<double>(group, testing::diagonal_matrix({-4}));
    CHECK(one.symmetric);
    CHECK_FALSE(one.positive_forms);
    CHECK(one.diagonal->least == -4);
    CHECK(one.diagonal->most == -4);
    const auto zeros = facts_on<double>(group, testing::from_triplets(5, {}));
    CHECK(zeros.symmetric);
    CHECK_FALSE(zeros.may_be_positive_definite());
    CHECK(zeros.diagonal->zeros == 5);
}

KRYLITH_GROUP_TEST("facts: a NaN is no symmetric matrix") {
    const auto facts = facts_on<double>(group, from_dense({{1, NAN}, {NAN, 1}}));
    CHECK_FALSE(facts.symmetric);
    CHECK_FALSE(facts.may_be_positive_definite());
}

KRYLITH_GROUP_TEST("facts: they are kept until new values come") {
    auto matrix = poisson2d<double>(12, 11);
    const auto a = make_operator(group, matrix);
    CHECK(a->kept().facts == nullptr);
    const operator_facts* const kept = &facts_of(*a);
    CHECK(kept->diagonal->constant());
    CHECK(a->kept().facts.get() == kept);
    CHECK(&facts_of(*a) == kept);
    matrix.values = disturbed(matrix, 0.5).values;
    a->update(matrix.values);
    CHECK(a->kept().facts == nullptr);
    CHECK_FALSE(facts_of(*a).symmetric);
    a->drop_facts();
    CHECK(a->kept().facts == nullptr);
    if (group.size() > 1) return; // the test would have to know which rank has which values
    (void)facts_of(*a);
    const buffer<double> lying(group.handle(0), std::span<const double>(matrix.values), "test");
    const std::vector<const double*> arrays = {lying.data()};
    a->update_on_devices(arrays);
    CHECK(a->kept().facts == nullptr);
}

KRYLITH_GROUP_TEST("facts: an operator without a diagonal of its own is judged without") {
    const std::int64_t n = 50;
    const auto rows = equal_rows(n, group.size(), 1);
    const auto twice = make_matrix_free<double>(
        group, rows,
        [](const product_call<double>& call) {
            for (std::int64_t i = 0; i < call.rows.size(); ++i)
                call.y[i] = 2 * call.x[call.rows.begin + i];
        },
        product_kind::on_host);
    const auto& facts = facts_of(*twice);
    CHECK_FALSE(facts.diagonal.has_value());
    CHECK(facts.symmetric);
    CHECK(facts.may_be_positive_definite());
}

TEST_CASE("facts: a matrix that is not square has none") {
    const csr_matrix<double> wide{1, 2, {0, 1}, {1}, {1}};
    const auto a = make_operator(device_group::host(2), wide);
    CHECK_THROWS_AS((void)facts_of(*a), usage_error);
}

} // namespace krylith
