// Matrices that are not square as coordinates, as arrays on the devices, and as functions.
#include <algorithm>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/spmv/rectangular/rectangular_matrices.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::name_of;
using testing::random_values;
using testing::values_of;

namespace {

/// Whether y = 2 A x - 3 y comes out as a plain loop has it.
bool multiplies(const matrix_operator<double>& a, const csr_matrix<double>& matrix) {
    const auto x0 = random_values<double>(matrix.columns, 3);
    const auto y0 = random_values<double>(matrix.rows, 4);
    const auto expected = testing::product(matrix, 2.0, x0, -3.0, y0);
    execution run(a.comm(), {});
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    x.upload(x0);
    y.upload(y0);
    put_ghosts(run, x);
    a.apply(run, 2.0, x, -3.0, y);
    run.flush();
    const auto result = values_of(y);
    bool good = result.size() == expected.size();
    for (std::size_t i = 0; i < result.size(); ++i)
        good = good && expected[i].allows<double>(result[i]);
    return good && testing::copies_agree(y);
}

/// The entries of a matrix by rows, by columns (1) or in no order (2).
coo_matrix<double> coordinates(const csr_matrix<double>& from, int order) {
    const csr_matrix<double> a = order == 1 ? testing::plainly_transposed(from) : from;
    coo_matrix<double> to{a.rows, a.columns, {}, {}, {}};
    const auto nnz = a.values.size();
    for (std::size_t place = 0; place < nnz; ++place) {
        // 211 is prime to the numbers of entries here, so that each entry comes once.
        const std::size_t k = order == 2 ? place * 211 % nnz : place;
        const auto above = std::ranges::upper_bound(a.row_offsets, static_cast<std::int64_t>(k));
        to.row_indices.push_back(static_cast<std::int32_t>(above - a.row_offsets.begin() - 1));
        to.column_indices.push_back(a.column_indices[k]);
        to.values.push_back(a.values[k]);
    }
    if (order == 1) {
        std::swap(to.rows, to.columns);
        std::swap(to.row_indices, to.column_indices);
    }
    return to;
}

csr_matrix<double> changed(csr_matrix<double> a) {
    for (double& value : a.values) value = 1 - 3 * value;
    return a;
}

} // namespace

KRYLITH_GROUP_TEST("rectangular coordinates: products, transposed ones and new values") {
    for (const auto& matrix :
         {testing::random_rectangular(150, 40, 5, 21), testing::random_rectangular(30, 170, 9, 22),
          testing::random_rectangular(3, 50, 20, 23), testing::rectangular_matrix(4, 9, {})}) {
        REQUIRE((matrix.values.size() % 211 != 0 || matrix.values.empty()));
        for (const int order : {0, 1, 2}) {
            CAPTURE(matrix.rows);
            CAPTURE(order);
            const auto a = make_operator(group, coordinates(matrix, order),
                                         {.kind = operators::pcoo, .transposed_products = true});
            CHECK(a->transposed().domain_layout() == a->range_layout());
            CHECK(multiplies(*a, matrix));
            CHECK(multiplies(a->transposed(), testing::plainly_transposed(matrix)));
            const auto other = changed(matrix);
            a->update(coordinates(other, order).values);
            CHECK(multiplies(*a, other));
            CHECK(multiplies(a->transposed(), testing::plainly_transposed(other)));
        }
    }
}

KRYLITH_GROUP_TEST(
    "rectangular parts: rows on the devices, with as many columns as the layout has") {
    for (const auto& matrix :
         {testing::random_rectangular(150, 40, 5, 31), testing::random_rectangular(30, 170, 9, 32),
          testing::random_rectangular(3, 50, 20, 33), testing::random_rectangular(50, 2, 2, 34)}) {
        const row_partition rows = equal_rows(matrix.rows, group.size());
        std::vector<buffer<std::int64_t>> offsets;
        std::vector<buffer<std::int32_t>> row_indices;
        std::vector<buffer<std::int32_t>> columns;
        std::vector<buffer<double>> values;
        std::vector<csr_part<double>> parts;
        std::vector<coo_part<double>> entries;
        const auto all = coordinates(matrix, 0);
        for (int rank = 0; rank < group.size(); ++rank) {
            const auto& device = group.handle(rank);
            const row_range own = rows.owned(rank);
            const auto first =
                static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(own.begin)]);
            const auto count =
                static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(own.end)]) -
                first;
            offsets.emplace_back(device,
                                 std::span(matrix.row_offsets)
                                     .subspan(static_cast<std::size_t>(own.begin),
                                              static_cast<std::size_t>(own.size()) + 1),
                                 "test");
            row_indices.emplace_back(device, std::span(all.row_indices).subspan(first, count),
                                     "test");
            columns.emplace_back(device, std::span(matrix.column_indices).subspan(first, count),
                                 "test");
            values.emplace_back(device, std::span(matrix.values).subspan(first, count), "test");
            parts.push_back(
                {own.size(), offsets.back().data(), columns.back().data(), values.back().data()});
            entries.push_back({own.size(), static_cast<std::int64_t>(count),
                               row_indices.back().data(), columns.back().data(),
                               values.back().data()});
        }
        for (const auto kind : {operators::automatic, operators::nz, operators::allgather})
            for (const bool borrow : {false, true}) {
                CAPTURE(name_of(kind));
                CAPTURE(borrow);
                const auto layouts =
                    make_layouts(group, rows, equal_rows(matrix.columns, group.size()),
                                 kind ? kind->vectors.get() : coherence::owned);
                const auto a =
                    make_operator<double>(layouts, parts, {.kind = kind, .borrow = borrow});
                CHECK(a->layouts().domain == layouts.domain);
                CHECK(multiplies(*a, matrix));
                CHECK(multiplies(*make_operator<double>(layouts, entries, {.kind = kind}), matrix));
            }
        const auto wrong = make_layouts(group, row_partition{[&] {
                                            auto begin = rows.begin;
                                            for (int k = 1; k < group.size(); ++k)
                                                begin[static_cast<std::size_t>(k)] = 0;
                                            return begin;
                                        }()},
                                        equal_rows(matrix.columns, group.size()), coherence::owned);
        if (group.size() > 1)
            CHECK_THROWS_WITH_AS((void)make_operator<double>(wrong, parts, {}),
                                 doctest::Contains("of which the range layout has"), usage_error);
        CHECK_THROWS_WITH_AS(
            (void)make_operator<double>(make_layouts(group, rows,
                                                     equal_rows(matrix.columns, group.size()),
                                                     coherence::owned),
                                        parts, {.transposed_products = true}),
            doctest::Contains("transposed_products needs the matrix in host memory"), usage_error);
    }
}

KRYLITH_GROUP_TEST("rectangular matrix-free: replicated, and with a halo plan of two partitions") {
    const auto matrix = testing::interpolation_1d(101);
    const std::int64_t n = matrix.columns;
    const auto rows = equal_rows(matrix.rows, group.size());
    const auto columns = equal_rows(n, group.size());
    const auto kind =
        group.kind() == backend::cuda ? product_kind::on_host : product_kind::on_device;
    const auto interpolate = [](const product_call<double>& call, const auto& x) {
        for (std::int64_t i = call.rows.begin; i < call.rows.end; ++i)
            call.y[i - call.rows.begin] =
                i % 2 == 0 ? x(i / 2) : 0.5 * x(i / 2) + 0.5 * x(i / 2 + 1);
    };
    const auto replicated = make_matrix_free<double>(
        group, rows, columns,
        [=](const product_call<double>& call) {
            interpolate(call, [&](std::int64_t j) { return call.x[j]; });
        },
        kind);
    CHECK(replicated->columns() == n);
    CHECK(multiplies(*replicated, matrix));

    const auto plan = make_halo_plan(matrix.row_offsets, matrix.column_indices, rows, columns);
    const auto owned = make_matrix_free<double>(
        group, plan,
        [=](const product_call<double>& call) {
            const local_indices& columns = plan.columns.local(call.rank);
            interpolate(call, [&](std::int64_t j) {
                return call.x[columns.local(j) - columns.first_owned()];
            });
        },
        kind);
    CHECK(multiplies(*owned, matrix));
    CHECK_THROWS_AS((void)make_matrix_free<double>(group, rows, equal_rows(n, group.size() + 1),
                                                   [](const product_call<double>&) {}),
                    usage_error);
}

} // namespace krylith
