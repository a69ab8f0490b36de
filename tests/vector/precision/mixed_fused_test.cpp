// Updates in double with vectors of float: what is rounded and when, layouts that belong together,
// and domain vectors of either type as targets.
#include <cmath>
#include <cstdint>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>
#include <krylith/tests/vector/shifting.hpp>

namespace krylith {

using testing::gather;
using testing::make_layout;
using testing::random_values;
using testing::shift_case;
using testing::shift_matrix;
using testing::shifting;
using testing::values_of;

namespace {

/// Fewer entries than a tile, several tiles a device, odd sizes; puts by lists and of all entries.
constexpr shift_case mixed_cases[] = {
    {12, 5}, {2600, 1}, {9001, 4000}, {12, 5, gather}, {2601, 1300, gather}, {9001, 1, gather}};

} // namespace

KRYLITH_GROUP_TEST("mixed fused updates: computed in double, rounded once, seen as rounded") {
    for (const auto kind : {coherence::owned, coherence::replicated})
        for (const std::int64_t n : {1, 515, 4099}) {
            const auto layout = make_layout(group, n, kind);
            execution run(group, {});
            scalar a(run), rz(run), zz(run);
            const double factor = 1.0 / 3;
            a = factor;
            const auto r = random_values<double>(n, 1);
            const auto s = random_values<float>(n, 2);
            auto r64 = testing::make_range_vector(layout, r);
            auto s32 = testing::make_range_vector(layout, s);
            vector<float> z32(layout), w32(layout);
            vector<double> y64(layout);
            fused(run, z32 = a * pointwise(s32, r64), y64 = r64 - promote<double>(z32),
                  rz = dot(r64, z32), zz = dot(z32, z32));
            double expected_rz = 0;
            double expected_zz = 0;
            std::vector<float> z;
            std::vector<double> y;
            for (std::size_t i = 0; i < r.size(); ++i) {
                z.push_back(static_cast<float>(factor * (static_cast<double>(s[i]) * r[i])));
                y.push_back(r[i] - static_cast<double>(z[i]));
                expected_rz += r[i] * static_cast<double>(z[i]);
                expected_zz += static_cast<double>(z[i]) * static_cast<double>(z[i]);
            }
            // A product that is rounded in double first may round to the other neighbour.
            const auto found = values_of(z32);
            for (std::size_t i = 0; i < z.size(); ++i)
                CHECK(std::fabs(found[i] - z[i]) <= 0x1p-24F * 1.01F * std::fabs(z[i]));
            if (found == z) CHECK(values_of(y64) == y);
            const double size = static_cast<double>(n);
            CHECK(std::fabs(run.get(rz.number()) - expected_rz) <= 1e-11 * size);
            CHECK(std::fabs(run.get(zz.number()) - expected_zz) <= 1e-11 * size);

            // Both factors of float, a sum into a target of float, and a difference.
            fused(run, w32 = promote<double>(pointwise(s32, s32)) + r64);
            fused(run, w32 += a * r64);
            fused(run, w32 -= promote<double>(s32) + r64);
            const auto w = values_of(w32);
            for (std::size_t i = 0; i < r.size(); ++i) {
                const double sd = s[i];
                const auto first = static_cast<float>(sd * sd + r[i]);
                const auto second = static_cast<float>(first + factor * r[i]);
                const auto third = static_cast<float>(second - sd - r[i]);
                CHECK(std::fabs(w[i] - third) <= 1e-6F);
            }
        }
}

KRYLITH_GROUP_TEST("mixed fused updates: the notation") {
    const auto layout = make_layout(group, 5, coherence::owned);
    execution run(group, {});
    scalar g(run), rz(run);
    g = 0.25;
    vector<double> r(layout), z(layout);
    vector<float> r32(layout), s32(layout), z32(layout);
    testing::fill(r, 8.0);
    testing::fill(s32, 3.0F);
    testing::fill(z32, 0.5F);
    fused(run, r32 = g * pointwise(s32, r));              // computed in double, rounded to float
    fused(run, z = promote<double>(z32), rz = dot(r, z)); // z32 takes part in double
    CHECK(values_of(r32) == std::vector<float>(5, 6.0F));
    CHECK(values_of(z) == std::vector<double>(5, 0.5));
    CHECK(run.get(rz.number()) == 20);
}

KRYLITH_GROUP_TEST("mixed fused updates: domain vectors of either type are sent") {
    for (const shift_case& c : mixed_cases) {
        CAPTURE(c.n);
        CAPTURE(c.shift);
        CAPTURE(testing::name_of(c.kind));
        shifting<double> wide(group, c);
        shifting<float> narrow(group, c); // an operator of its own: layouts are equal by value
        execution run(group, {});
        scalar two(run);
        two = 2.0;
        const auto u = random_values<float>(c.n, 4);
        const std::vector<double> u64(u.begin(), u.end());
        auto source = testing::make_range_vector(wide.a->layout(), u64);
        auto source32 = testing::make_range_vector(narrow.a->layout(), u);
        auto x = wide.a->make_domain_vector();
        auto z = narrow.a->make_domain_vector();
        const auto times = [](auto v, int by) {
            for (auto& e : v) e *= static_cast<float>(by);
            return v;
        };
        fused(run, z = two * source); // float
        CHECK(narrow.sees(run, z, times(u, 2)));
        fused(run, x = two * promote<double>(z)); // double
        CHECK(wide.sees(run, x, times(u64, 4)));
        fused(run, z = source + two * source, x = source + promote<double>(source32)); // both
        CHECK(narrow.sees(run, z, times(u, 3)));
        CHECK(wide.sees(run, x, times(u64, 2)));
        fused(run, x = promote<double>(source32), z = two * source);
        CHECK(narrow.sees(run, z, times(u, 2)));
        CHECK(wide.sees(run, x, u64));
        for (int round = 0; round < 3; ++round) fused(run, z = two * promote<double>(z));
        CHECK(narrow.sees(run, z, times(u, 16)));
        // The passes into and out of a preconditioner in float, which have kernels of their own.
        auto s = narrow.a->make_range_vector();
        testing::fill(s, 0.5F);
        scalar uz(run);
        fused(run, z = two * pointwise(s, source));
        CHECK(narrow.sees(run, z, u));
        fused(run, x = two * promote<double>(pointwise(s, z)) +
                       two * promote<double>(pointwise(s, source32)));
        CHECK(wide.sees(run, x, times(u64, 2)));
    }
}

KRYLITH_GROUP_TEST("mixed fused updates: layouts belong together by value, of one type by handle") {
    execution run(group, {});
    const auto layout = make_layout(group, 10, coherence::owned);
    const auto equal = make_layout(group, 10, coherence::owned);
    vector<double> x(layout), stranger(equal);
    vector<float> v(layout), w(equal), longer(make_layout(group, 11, coherence::owned)),
        copies(make_layout(group, 10, coherence::replicated));
    scalar s(run);
    fused(run, v = x);
    fused(run, w = x, s = dot(x, w));
    CHECK_THROWS_AS(fused(run, x = stranger), usage_error);
    CHECK_THROWS_AS(fused(run, w = promote<double>(v) + x), usage_error);
    CHECK_THROWS_AS(fused(run, longer = x), usage_error);
    CHECK_THROWS_AS(fused(run, x = promote<double>(copies)), usage_error);
    CHECK_THROWS_AS(fused(run, s = dot(longer, x)), usage_error);
    // Products take vectors of their own type alone.
    const auto a = make_operator(group, shift_matrix(10, 1));
    auto p = a->make_domain_vector();
    auto y = a->make_range_vector();
    const vector<float> other(a->layout());
    const reduction_into<double> mixed[] = {s = dot(y, other)};
    CHECK_THROWS_AS(a->apply(run, 1.0, p, 0.0, y, mixed), usage_error);
}

} // namespace krylith
