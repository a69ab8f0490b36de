// SELL blocks whose rows mostly have one stencil: products have the bits of rows one after the
// other, whatever rows lack, on any number of devices and in every copy, and with new values.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <krylith/solvers/cg.hpp>
#include <krylith/sparse/sell/narrow_worth.hpp>

#include <krylith/tests/sparse/sell/sell_products.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using testing::pattern;
using testing::product;
using testing::random_values;
using testing::right;
using testing::stencil;
using testing::values_by_diagonal;

namespace {

struct grid {
    int points;
    int nx, ny, nz;
};

/// Five, seven, nine and 27 points; lines of whole units, of whole slices, of whole words of lanes,
/// and of none of these; a grid of fewer rows than a unit.
const std::vector<grid> grids = {{7, 128, 9, 7}, {7, 64, 11, 6},  {7, 36, 13, 8},   {7, 126, 7, 6},
                                 {7, 125, 7, 5}, {7, 128, 64, 1}, {7, 100, 50, 1},  {27, 128, 6, 5},
                                 {27, 44, 9, 6}, {27, 63, 7, 5},  {27, 128, 60, 1}, {27, 90, 41, 1},
                                 {7, 5, 4, 3}};

operator_options in_sell(const device_group& group, operator_kind kind = operators::halo) {
    return {kind, group.kind() == backend::cuda ? formats::sell : formats::csr};
}

/// Calls body(operator, pattern, values) for the matrix of each grid, one value for each diagonal.
template <class T, class Body>
void for_grids(const device_group& group, const Body& body, operator_kind kind = operators::halo) {
    const mocked_narrow_worth any_size;
    for (const grid& g : grids) {
        CAPTURE(to_string(kind));
        CAPTURE(g.points);
        CAPTURE(g.nx);
        CAPTURE(g.nz);
        const pattern p = stencil(g.points, g.nx, g.ny, g.nz);
        const auto values = values_by_diagonal<T>(p);
        const csr_matrix<T> matrix{p.rows(), p.rows(), p.offsets, p.indices, values};
        body(*make_operator(group, matrix, in_sell(group, kind)), p, values);
    }
}

template <class T>
void check_stencil_products(const device_group& group) {
    const auto check = [](auto& a, const pattern& p, std::vector<T> values) {
        CHECK(right(a, p, values));
        // Another stencil, and none.
        for (T& value : values) value = -value;
        a.update(values);
        CHECK(right(a, p, values));
        values[values.size() / 3] += T(1);
        a.update(values);
        CHECK(right(a, p, values));
    };
    // Lanes of nz and 2nz send several results at once.
    for (const operator_kind kind : {operators::halo, operators::nz, operators::two_nz})
        for_grids<T>(group, check, kind);
}

/// A row must not see entries of x that it has no entry for, infinite ones for instance.
template <class T>
void check_what_rows_lack(const device_group& group) {
    for_grids<T>(group, [](const auto& a, const pattern& p, const std::vector<T>&) {
        std::vector<T> x(static_cast<std::size_t>(p.rows()), T(1));
        for (const std::size_t row : {std::size_t{0}, x.size() / 2, x.size() - 1})
            x[row] = std::numeric_limits<T>::infinity();
        for (std::size_t row = 127; row < x.size(); row += 128) // ends of lines, in many grids
            x[row] = std::numeric_limits<T>::infinity();
        const auto y = product(a, x);
        bool as_it_should_be = true;
        for (std::size_t row = 0; row < y.size(); ++row) {
            bool finite = true;
            for (auto k = static_cast<std::size_t>(p.offsets[row]);
                 k < static_cast<std::size_t>(p.offsets[row + 1]); ++k)
                finite = finite && std::isfinite(x[static_cast<std::size_t>(p.indices[k])]);
            as_it_should_be = as_it_should_be && std::isfinite(y[row]) == finite;
        }
        CHECK(as_it_should_be);
    });
}

} // namespace

KRYLITH_GROUP_TEST("stencils: products of all shapes, and new values") {
    check_stencil_products<double>(group);
    check_stencil_products<float>(group);
}

KRYLITH_GROUP_TEST("stencils: entries that rows lack") {
    check_what_rows_lack<double>(group);
    check_what_rows_lack<float>(group);
}

KRYLITH_GROUP_TEST("stencils: a recorded solve takes values without a stencil, and others") {
    const mocked_narrow_worth any_size;
    const pattern p = stencil(7, 64, 6, 5);
    std::vector<double> first;
    for (std::int64_t row = 0; row < p.rows(); ++row)
        for (auto k = p.offsets[static_cast<std::size_t>(row)];
             k < p.offsets[static_cast<std::size_t>(row) + 1]; ++k)
            first.push_back(p.indices[static_cast<std::size_t>(k)] == row ? 6.5 : -1.0);
    auto second = first;
    auto third = first;
    for (std::int64_t row = 0; row < p.rows(); ++row)
        for (auto k = p.offsets[static_cast<std::size_t>(row)];
             k < p.offsets[static_cast<std::size_t>(row) + 1]; ++k) {
            if (p.indices[static_cast<std::size_t>(k)] != row) continue;
            second[static_cast<std::size_t>(k)] += 0.001 * static_cast<double>(row % 101);
            third[static_cast<std::size_t>(k)] = 7;
        }
    const csr_matrix<double> matrix{p.rows(), p.rows(), p.offsets, p.indices, first};
    const auto a = make_operator(group, matrix, in_sell(group));
    cg_solver kept(*a);
    const auto rhs = random_values<double>(p.rows(), 5);
    auto b = a->make_range_vector();
    b.upload(rhs);
    for (const std::vector<double>* const values : {&first, &second, &third, &first}) {
        a->update(*values);
        auto x = a->make_range_vector();
        const auto result = kept(b, x);
        CHECK(result.converged());
        const csr_matrix<double> now{p.rows(), p.rows(), p.offsets, p.indices, *values};
        const auto fresh = make_operator(group, now, in_sell(group));
        auto fresh_b = fresh->make_range_vector();
        fresh_b.upload(rhs);
        auto y = fresh->make_range_vector();
        const auto expected = cg(*fresh, fresh_b, y);
        // Another kernel adds up dot products in another order.
        CHECK(std::abs(result.iterations - expected.iterations) <= 1);
        const auto got = testing::values_of(x);
        const auto wanted = testing::values_of(y);
        double worst = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
            worst = std::max(worst, std::abs(got[i] - wanted[i]));
        CHECK(worst < 1e-6);
    }
}

} // namespace krylith
