// SELL slices whose slice-columns have one value each: products have the bits that they have with
// all values, and new values are looked at anew.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <krylith/tests/sparse/sell/sell_products.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

using testing::narrow_fraction;
using testing::pattern;
using testing::random_values;
using testing::right;
using testing::values_by_diagonal;

namespace {

/// Whether the slices of a stencil are uniform: those of one device are, where a line of the grid
/// is whole slices. With several devices rows that lack an entry may have another value in a
/// slice-column than rows beside them that read ghosts, which lie on no diagonal.
template <class T>
bool stencil_is_uniform(const matrix_operator<T>& a) {
    const double fraction = narrow_fraction(a);
    if (a.format_name() != "sell") return fraction == 0;
    return a.layout()->comm.ranks() == 1 ? fraction == 1 : fraction > 0.3;
}

template <class T>
void check_uniform(const device_group& group) {
    const bool sell = group.kind() == backend::cuda;
    const auto format = sell ? formats::sell : formats::csr;
    const std::vector<pattern> patterns = {testing::stencil(7, 64, 6, 6),
                                           testing::stencil(27, 64, 5, 4)};
    for (const pattern& p : patterns) {
        const auto uniform = values_by_diagonal<T>(p);
        const auto various = random_values<T>(static_cast<std::int64_t>(p.indices.size()), 72);
        const csr_matrix<T> matrix{p.rows(), p.rows(), p.offsets, p.indices, uniform};
        const auto a = make_operator(group, matrix, {operators::halo, format});
        const auto full_bytes = [&] { // of all values for themselves
            a->update(various);
            return a->matrix_bytes(0);
        }();
        a->update(uniform);
        CHECK(right(*a, p, uniform));
        CHECK(stencil_is_uniform(*a));
        CHECK(a->matrix_bytes(0) <= full_bytes);
        if (sell) CHECK(a->matrix_bytes(0) < full_bytes);

        a->update(various);
        CHECK(right(*a, p, various));
        CHECK(narrow_fraction(*a) < 0.1); // a slice with one row is uniform

        auto one_differs = uniform;
        one_differs[uniform.size() / 2] += T(1);
        a->update(one_differs);
        CHECK(right(*a, p, one_differs));
        if (sell && group.size() == 1) CHECK(narrow_fraction(*a) < 1);

        a->update(uniform);
        CHECK(right(*a, p, uniform));
        CHECK(stencil_is_uniform(*a));
    }
}

/// Products of large stencils take consecutive rows of a lane at once (stencil_kernel.cuh), with
/// lines of whole groups of slices and with others, and new values that make slices differ.
template <class T>
void check_large(const device_group& group) {
    const bool large = group.kind() == backend::cuda;
    const std::int64_t lines = large ? 130 : 6;
    for (const std::int64_t line : {std::int64_t{128}, std::int64_t{126}}) {
        const pattern p = testing::stencil(7, line, lines, large ? 160 : 6);
        auto values = values_by_diagonal<T>(p);
        const csr_matrix<T> matrix{p.rows(), p.rows(), p.offsets, p.indices, values};
        const auto a =
            make_operator(group, matrix, {operators::halo, large ? formats::sell : formats::csr});
        CHECK(right(*a, p, values));
        for (std::size_t k = 0; k < values.size(); k += 100'003) values[k] += T(1);
        a->update(values);
        CHECK(right(*a, p, values));
    }
}

template <class T>
void check_values_alike(const device_group& group) {
    const auto format = group.kind() == backend::cuda ? formats::sell : formats::csr;
    const pattern p = testing::random_pattern(1500, 30, 1500, 73); // rows of many lengths
    const std::vector<T> ones(p.indices.size(), T(1));
    const csr_matrix<T> matrix{p.rows(), p.rows(), p.offsets, p.indices, ones};
    const auto a = make_operator(group, matrix, {operators::nz, format});
    CHECK(right(*a, p, ones));
    CHECK(narrow_fraction(*a) == (format == formats::sell ? 1 : 0));

    const std::int64_t uniform_bytes = a->matrix_bytes(0);

    // Entries that aren't there would be multiplied by infinity or NaN, which 0 doesn't undo.
    for (const T value :
         {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
        auto values = ones;
        for (std::size_t row = 320; row < 352; ++row)
            for (auto k = static_cast<std::size_t>(p.offsets[row]);
                 k < static_cast<std::size_t>(p.offsets[row + 1]); ++k)
                values[k] = value;
        a->update(values);
        CHECK(right(*a, p, values));
    }

    // 0 and -0 are two values: a row with -0 alone, times a positive x, is -0.
    auto zeros = ones;
    for (std::size_t k = 0; k < zeros.size(); k += 2) zeros[k] = T(0);
    for (std::size_t k = 1; k < zeros.size(); k += 2) zeros[k] = -T(0);
    a->update(zeros);
    CHECK(right(*a, p, zeros));
    if (format == formats::sell) CHECK(a->matrix_bytes(0) > uniform_bytes);
}

} // namespace

KRYLITH_GROUP_TEST("uniform slices: stencils, new values and back, fp64") {
    check_uniform<double>(group);
}
KRYLITH_GROUP_TEST("uniform slices: stencils, new values and back, fp32") {
    check_uniform<float>(group);
}
KRYLITH_GROUP_TEST("uniform slices: large stencils, fp64") {
    check_large<double>(group);
}
KRYLITH_GROUP_TEST("uniform slices: large stencils, fp32") {
    check_large<float>(group);
}
KRYLITH_GROUP_TEST("uniform slices: equal values anywhere, and those that aren't finite") {
    check_values_alike<double>(group);
    check_values_alike<float>(group);
}

} // namespace krylith
