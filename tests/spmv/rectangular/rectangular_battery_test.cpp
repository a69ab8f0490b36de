// Every operator and format on matrices that are not square, on every group: y = alpha A x + beta y
// and dot products of the same pass against a plain loop in long double.
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/column_adaptive/column_worth.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/spmv/product_comparison.hpp>
#include <krylith/tests/spmv/rectangular/rectangular_matrices.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::all_kinds;
using testing::copies_agree;
using testing::factors;
using testing::multiply_and_compare;
using testing::name_of;
using testing::random_values;
using testing::rectangular_battery;
using testing::same_bits;
using testing::values_of;

namespace {

std::vector<format_kind> formats_and_automatic(backend kind) {
    auto result = testing::formats_of(kind);
    if (kind != backend::host) result.push_back(formats::automatic); // with one there is no choice
    return result;
}

template <class T>
void fight_rectangular(const device_group& group,
                       transport_kind transport = transports::automatic) {
    for (const auto& entry : rectangular_battery()) {
        const auto matrix = testing::converted<T>(entry.matrix);
        for (const operator_kind kind : all_kinds())
            for (const format_kind format : formats_and_automatic(group.kind())) {
                if (transport && (!kind || !takes(kind, transport))) continue;
                INFO(entry.name, ", for: ", entry.surfaces);
                CAPTURE(name_of(kind));
                CAPTURE(name_of(format));
                const auto a = make_operator(
                    group, matrix, {.kind = kind, .format = format, .transport = transport});
                CHECK(a->rows() == matrix.rows);
                CHECK(a->columns() == matrix.columns);
                CHECK_FALSE(a->layouts().square());
                execution run(group, {});
                for (const factors f : {factors{1, 0}, factors{-1, 1}, factors{2, 0.5}}) {
                    CAPTURE(f.alpha);
                    CAPTURE(f.beta);
                    CHECK(multiply_and_compare(run, *a, matrix, f) == "");
                }
            }
    }
}

} // namespace

KRYLITH_GROUP_TEST("rectangular battery: all operators, fp64") {
    fight_rectangular<double>(group);
}
KRYLITH_GROUP_TEST("rectangular battery: all operators, fp32") {
    fight_rectangular<float>(group);
}
KRYLITH_GROUP_TEST("rectangular battery: results sent by copy engines") {
    fight_rectangular<double>(group, transports::copy_engine);
}
KRYLITH_GROUP_TEST("rectangular battery: adaptive, with columns of a sparse x") {
    const mocked_column_worth mocked;
    for (const auto& entry : rectangular_battery()) {
        CAPTURE(entry.name);
        const csr_matrix<double>& matrix = entry.matrix;
        const auto a = make_operator(group, matrix, {.kind = operators::adaptive});
        auto x0 = std::vector<double>(static_cast<std::size_t>(matrix.columns), 0.0);
        if (!x0.empty()) x0[x0.size() / 2] = 3;
        const auto y0 = random_values<double>(matrix.rows, 5);
        const auto expected = testing::product(matrix, 2.0, x0, -1.0, y0);
        execution run(group, {.mode = execution_mode::eager});
        auto x = a->make_domain_vector();
        auto y = a->make_range_vector();
        x.upload(x0);
        y.upload(y0);
        put_ghosts(run, x);
        a->apply(run, 2.0, x, -1.0, y);
        run.flush();
        const auto result = values_of(y);
        for (std::size_t i = 0; i < result.size(); ++i)
            CHECK(expected[i].allows<double>(result[i]));
    }
}

// x and y change in every trip: a signal or a credit that a rank without rows, or without columns,
// leaves out would stop a loop or let a rank read too early.
KRYLITH_GROUP_TEST("rectangular operators: recorded and eager loops, the same bits") {
    for (const auto& entry : rectangular_battery())
        for (const operator_kind kind : operators::all) {
            CAPTURE(entry.name);
            CAPTURE(name_of(kind));
            const csr_matrix<double>& matrix = entry.matrix;
            const auto a =
                make_operator(group, matrix, {.kind = kind, .transposed_products = true});
            const matrix_operator<double>& b = a->transposed();
            const auto x0 = random_values<double>(matrix.columns, 44);
            std::vector<double> expected;
            for (const auto mode : testing::modes_of(*a)) {
                if (mode == execution_mode::recorded && !b.recordable()) continue;
                execution run(group, {.mode = mode, .unroll = 3});
                auto source = testing::make_range_vector(a->domain_layout(), x0);
                auto x = a->make_domain_vector();
                auto y = b.make_domain_vector();
                scalar yy(run), xx(run);
                fused(run, x = source);
                (void)testing::iterate(run, 7, [&] {
                    const reduction_into<double> of_y[] = {yy = dot(y, y)};
                    a->apply(run, 0.25, x, 0.5, y, of_y);
                    put_ghosts(run, y); // y was written by a product, not by fused()
                    const reduction_into<double> of_x[] = {xx = dot(x, x)};
                    a->apply_transposed(run, 0.25, y, 0.5, x, of_x);
                    put_ghosts(run, x);
                });
                run.flush();
                CHECK(copies_agree(x));
                auto result = values_of(x);
                const auto y1 = values_of(y);
                result.insert(result.end(), y1.begin(), y1.end());
                result.push_back(run.get(xx.number()));
                result.push_back(run.get(yy.number()));
                if (expected.empty()) expected = result;
                CHECK(same_bits(result, expected));
            }
        }
}

KRYLITH_GROUP_TEST("rectangular operators: update takes new values on the same pattern") {
    const auto first = testing::random_rectangular(300, 110, 6, 41);
    auto second = first;
    for (std::size_t k = 0; k < second.values.size(); ++k)
        second.values[k] = 1.0 / static_cast<double>(k + 1);
    const auto x0 = random_values<double>(110, 42);
    const auto z0 = random_values<double>(300, 43);
    for (const operator_kind kind : all_kinds()) {
        CAPTURE(name_of(kind));
        const auto a = make_operator(group, first, {.kind = kind, .transposed_products = true});
        for (const csr_matrix<double>* matrix :
             std::vector{&first, &std::as_const(second), &first}) {
            a->update(matrix->values);
            execution run(group, {});
            auto x = a->make_domain_vector();
            auto y = a->make_range_vector();
            auto z = a->transposed().make_domain_vector();
            auto w = a->transposed().make_range_vector();
            x.upload(x0);
            z.upload(z0);
            put_ghosts(run, x);
            put_ghosts(run, z);
            a->apply(run, 1.0, x, 0.0, y);
            a->apply_transposed(run, 1.0, z, 0.0, w);
            run.flush();
            const auto expected = testing::product(*matrix, 1.0, x0, 0.0, z0);
            const auto across =
                testing::product(testing::plainly_transposed(*matrix), 1.0, z0, 0.0, x0);
            const auto y1 = values_of(y);
            const auto w1 = values_of(w);
            for (std::size_t i = 0; i < y1.size(); ++i) CHECK(expected[i].allows<double>(y1[i]));
            for (std::size_t j = 0; j < w1.size(); ++j) CHECK(across[j].allows<double>(w1[j]));
        }
        CHECK_THROWS_AS(a->update(std::span(first.values).first(10)), usage_error);
    }
}

} // namespace krylith
