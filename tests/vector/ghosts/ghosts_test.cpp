// Ghosts: after any way to write a domain vector the next product reads the owners' entries. A
// permutation matrix shows every ghost in the result, bit by bit.
#include <cstdint>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/basis.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>
#include <krylith/tests/vector/shifting.hpp>

namespace krylith {

using testing::gather;
using testing::iterate;
using testing::modes_of;
using testing::random_values;
using testing::rotated;
using testing::shift_case;
using testing::shifting;
using testing::values_of;

namespace {

/// Cases have twelve entries (fewer than a tile) or several tiles a device, shifted by 1 or from
/// far away; puts by lists (halo) and of all entries (allgather), which begin at even and at odd
/// places.
constexpr shift_case ghost_cases[] = {
    {12, 1},         {12, 5},         {5, 2},         {2600, 1},         {2600, 1300},
    {12, 1, gather}, {12, 5, gather}, {5, 2, gather}, {2600, 1, gather}, {2601, 1300, gather}};

} // namespace

KRYLITH_GROUP_TEST("ghosts: are new after every way to write a domain vector") {
    for (const shift_case& c : ghost_cases) {
        CAPTURE(c.n);
        CAPTURE(c.shift);
        CAPTURE(testing::name_of(c.kind));
        shifting<double> p(group, c);
        execution run(group, {});
        scalar two(run), one(run);
        two = 2.0;
        one = 1.0;
        const auto u = random_values<double>(c.n, 1);
        const auto w = random_values<double>(c.n, 2);
        auto plain = testing::make_range_vector(p.a->layout(), u);
        auto other = testing::make_range_vector(p.a->layout(), w);
        auto x = p.a->make_domain_vector();
        auto z = p.a->make_domain_vector();
        CHECK(p.sees(run, x, std::vector<double>(u.size()))); // zero at first, without a put

        fused(run, x = plain); // a shape with a kernel of its own
        CHECK(p.sees(run, x, u));
        CHECK(p.sees(run, x, u)); // again, without a put in between
        fused(run, x = two * other);
        auto expected = w;
        for (double& e : expected) e *= 2;
        CHECK(p.sees(run, x, expected));
        fused(run, x = plain + plain); // a general shape: 2 u
        expected = u;
        for (double& e : expected) e *= 2;
        CHECK(p.sees(run, x, expected));

        x.upload(w);
        put_ghosts(run, x);
        CHECK(p.sees(run, x, w));
        x.zero(); // zeroes ghosts too
        CHECK(p.sees(run, x, std::vector<double>(u.size())));

        // The direction of CG: the domain vector is the second vector that the pass writes.
        x.upload(u);
        fused(run, plain += two * x, x = other + one * x);
        expected = w;
        for (std::size_t i = 0; i < w.size(); ++i) expected[i] = w[i] + u[i];
        CHECK(p.sees(run, x, expected));

        fused(run, x = other, z = two * other); // two domain vectors in one pass
        expected = w;
        for (double& e : expected) e *= 2;
        CHECK(p.sees(run, x, w));
        CHECK(p.sees(run, z, expected));
    }
}

KRYLITH_GROUP_TEST("ghosts: puts without a product in between, and domain vectors by turns") {
    for (const shift_case& c : ghost_cases) {
        CAPTURE(c.n);
        CAPTURE(c.shift);
        CAPTURE(testing::name_of(c.kind));
        shifting<double> p(group, c);
        execution run(group, {});
        scalar factor(run);
        const auto u = random_values<double>(c.n, 3);
        auto source = testing::make_range_vector(p.a->layout(), u);
        auto x = p.a->make_domain_vector();
        auto z = p.a->make_domain_vector();
        const auto times = [&](double by) {
            auto v = u;
            for (double& e : v) e *= by;
            return v;
        };
        for (int round = 1; round <= 4; ++round) {
            for (int k = 0; k < round; ++k) {
                factor = static_cast<double>(1 << k);
                fused(run, x = factor * source);
            }
            fused(run, z = source);
            put_ghosts(run, z);
            CHECK(p.sees(run, x, times(1 << (round - 1))));
            CHECK(p.sees(run, z, u));
            CHECK(p.sees(run, x, times(1 << (round - 1))));
        }
        // A product that writes a plain vector makes no put.
        auto y = p.a->make_range_vector();
        p.a->apply(run, 1.0, x, 0.0, y);
        p.a->apply(run, 1.0, z, 0.0, y);
        CHECK(values_of(y) == rotated(u, c.shift));
    }
}

// In a recorded loop kernels, not events, keep senders from overwriting ghosts that are not read
// yet. Each iteration shifts p by one product, in bodies with more and fewer puts than products.
KRYLITH_GROUP_TEST("ghosts: loops with more and fewer puts than products") {
    for (const auto mode : modes_of(group))
        for (const shift_case& c : ghost_cases)
            for (const int variant : {0, 1, 2, 3}) {
                CAPTURE(c.n);
                CAPTURE(c.shift);
                CAPTURE(testing::name_of(c.kind));
                CAPTURE(variant);
                CAPTURE(mode == execution_mode::recorded);
                shifting<double> s(group, c);
                execution run(group, {.mode = mode, .unroll = 3});
                const auto u = random_values<double>(c.n, 4);
                auto q = testing::make_range_vector(s.a->layout(), u);
                auto old = s.a->make_range_vector();
                auto p = s.a->make_domain_vector();
                auto z = s.a->make_domain_vector();
                fused(run, p = q);
                constexpr int trips = 20;
                (void)iterate(run, trips, [&] {
                    s.a->apply(run, 1.0, p, 0.0, q);
                    // Two readers of one put: ghosts may be overwritten only after the second.
                    if (variant == 1) s.a->apply(run, 1.0, p, 0.0, q);
                    if (variant == 2) { // a put that no product reads
                        fused(run, old = p);
                        fused(run, p = old + old);
                    }
                    if (variant == 3) fused(run, p = q, z = q);
                    fused(run, p = q);
                    if (variant == 3) { // entries go to the other vector and back
                        s.a->apply(run, 1.0, z, 0.0, old);
                        s.a->apply(run, 1.0, p, 0.0, q);
                        fused(run, p = old);
                    }
                });
                const std::int64_t steps = variant == 3 ? 2 * trips : trips;
                CHECK(values_of(p) == rotated(u, c.shift * steps % c.n));
            }
}

// Devices run apart as far as the exchange lets them: the bits are the same every time, or there is
// a race.
KRYLITH_GROUP_TEST("ghosts: the same bits every time") {
    const auto matrix = testing::random_matrix(700, 5, 4, 9);
    const auto u = random_values<double>(700, 5);
    for (const auto kind : {operators::halo, operators::allgather}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        std::vector<double> first;
        int different = 0;
        for (int round = 0; round < 10; ++round) {
            execution run(group, {.unroll = 4});
            scalar tenth(run);
            tenth = 0.1;
            auto q = testing::make_range_vector(a->layout(), u);
            auto p = a->make_domain_vector();
            fused(run, p = q);
            (void)iterate(run, 30, [&] {
                a->apply(run, 1.0, p, 0.0, q);
                fused(run, p = tenth * q);
            });
            if (first.empty()) first = values_of(p);
            different += values_of(p) != first;
        }
        CHECK(different == 0);
    }
}

} // namespace krylith
