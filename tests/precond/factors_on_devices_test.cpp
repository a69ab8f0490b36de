// ILU(0) and IC(0) of rows that lie on the devices: the factors are those of the host's matrix.
#include <algorithm>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/ic0.hpp>
#include <krylith/precond/ilu0.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/device_parts.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::device_parts;
using testing::random_values;
using testing::same_bits;

namespace {

constexpr elimination_order all_orders_of_rows[] = {
    elimination_order::natural, elimination_order::colours, elimination_order::automatic};

/// Rows with their entries the other way round.
csr_matrix<double> reversed_rows(csr_matrix<double> a) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
        const auto first = a.row_offsets[i];
        const auto last = a.row_offsets[i + 1];
        std::reverse(a.column_indices.begin() + first, a.column_indices.begin() + last);
        std::reverse(a.values.begin() + first, a.values.begin() + last);
    }
    return a;
}

} // namespace

KRYLITH_GROUP_TEST("ilu0 and ic0: rows on the devices give the factors of the host's matrix") {
    const auto matrix = make_gallery<double>("poisson3d:6:random=1");
    const auto reversed = reversed_rows(matrix);
    auto other = matrix;
    for (double& value : other.values) value *= value > 0 ? 1.5 : 0.75;
    const auto wider = make_gallery<double>("poisson3d_27point:6");
    const auto r = random_values<double>(matrix.rows, 4);
    for (const operator_kind kind : {operators::halo, operators::nz}) {
        CAPTURE(kind->name);
        const auto a = make_operator(group, matrix, {.kind = kind});
        const row_partition& rows = a->layout()->rows;
        const device_parts<double> parts(group, matrix, rows);
        for (const elimination_order order : all_orders_of_rows) {
            CAPTURE(to_string(order));
            const ic0<double> of_host(*a, matrix, {.order = order});
            const ic0<double> symmetric(*a, parts.parts(), {.order = order});
            CHECK(same_bits(applied(*a, symmetric, r), applied(*a, of_host, r)));
            CHECK(symmetric.name() == of_host.name());
            CHECK(symmetric.nonzeros() == of_host.nonzeros());
            ilu0<double> m(*a, device_parts<double>(group, reversed, rows).parts(),
                           {.order = order});
            CHECK(same_bits(applied(*a, m, r),
                            applied(*a, ilu0<double>(*a, matrix, {.order = order}), r)));
            m.update(device_parts<double>(group, other, rows).parts());
            CHECK(same_bits(applied(*a, m, r),
                            applied(*a, ilu0<double>(*a, other, {.order = order}), r)));
            m.update(device_parts<double>(group, wider, rows).parts());
            CHECK(same_bits(applied(*a, m, r),
                            applied(*a, ilu0<double>(*a, wider, {.order = order}), r)));
        }
    }
}

KRYLITH_GROUP_TEST("ilu0 and ic0: more devices than rows, empty rows and a row alone, in parts") {
    for (const int n : {1, 2, 5}) {
        CAPTURE(n);
        const auto matrix = testing::laplace_1d(n);
        for (const operator_kind kind : {operators::halo, operators::nz}) {
            const auto a = make_operator(group, matrix, {.kind = kind});
            const device_parts<double> parts(group, matrix, a->layout()->rows);
            const ic0<double> m(*a, parts.parts());
            const auto b = testing::make_range_vector(a->layout(), random_values<double>(n, 2));
            auto x = a->make_range_vector();
            CHECK(cg(*a, b, x, {}, m).converged());
        }
    }
    testing::triplets entries;
    for (int i = 0; i < 9; ++i)
        if (i != 4) entries.push_back({i, i, 2.0});
    const auto empty_row = testing::from_triplets(9, entries);
    for (const operator_kind kind : {operators::halo, operators::nz}) {
        const auto a = make_operator(group, empty_row, {.kind = kind});
        const device_parts<double> parts(group, empty_row, a->layout()->rows);
        CHECK_THROWS_WITH_AS((ilu0<double>(*a, parts.parts())),
                             doctest::Contains("ilu0: the pivot of row 4 (counted from 0) is 0"),
                             input_error);
    }
}

KRYLITH_GROUP_TEST("ilu0: refuses parts that are not the operator's, and keeps what it has") {
    const auto matrix = make_gallery<double>("convection_diffusion:5:20");
    const auto a = make_operator(group, matrix);
    const row_partition& rows = a->layout()->rows;
    const device_parts<double> parts(group, matrix, rows);
    ilu0<double> m(*a, parts.parts());
    const auto r = random_values<double>(matrix.rows, 4);
    const auto before = applied(*a, m, r);
    const auto smaller = make_gallery<double>("convection_diffusion:4:20");
    const device_parts<double> wrong(group, smaller, equal_rows(smaller.rows, group.size()));
    CHECK_THROWS_WITH_AS(m.update(wrong.parts()),
                         "ilu0: a matrix of 64 x 64 for an operator of 125 rows", usage_error);
    if (group.size() > 1) {
        row_partition moved = rows;
        --moved.begin[1];
        const device_parts<double> elsewhere(group, matrix, moved);
        CHECK_THROWS_WITH_AS(m.update(elsewhere.parts()), doctest::Contains("other rows"),
                             usage_error);
    }
    auto zeros = matrix;
    for (double& value : zeros.values) value = 0;
    CHECK_THROWS_AS(m.update(device_parts<double>(group, zeros, rows).parts()), input_error);
    CHECK(same_bits(applied(*a, m, r), before));
    operator_options how;
    how.order = orders::rcm;
    const auto ordered = make_operator(group, matrix, how);
    CHECK_THROWS_WITH_AS((ilu0<double>(*ordered, parts.parts())),
                         doctest::Contains("an order of its own"), usage_error);
}

KRYLITH_GROUP_TEST("ilu0: any allocation may fail where parts are brought to each device") {
    const auto matrix = make_gallery<double>("convection_diffusion:4:20");
    const auto a = make_operator(group, matrix, {.kind = operators::nz});
    const device_parts<double> parts(group, matrix, a->layout()->rows);
    const auto before = testing::live_bytes(group);
    for (const elimination_order order : {elimination_order::natural, elimination_order::colours}) {
        bool made = false;
        for (int k = 0; !made; k += 1 + k / 8) {
            CAPTURE(k);
            const testing::short_memory failing(group, k);
            try {
                const ilu0<double> m(*a, parts.parts(), {.order = order});
                made = failing.count() <= k;
                CHECK(made);
            } catch (const device_error&) {
            }
            CHECK(testing::live_bytes(group) == before);
        }
    }
}

} // namespace krylith
