// Operators: new values, chains of products, recorded and eager, choices and refusals.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/tuning/mocked_rates.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::iterate;
using testing::modes_of;
using testing::name_of;
using testing::random_values;
using testing::recordable_operators;
using testing::same_bits;
using testing::values_of;

namespace {} // namespace

KRYLITH_GROUP_TEST("operators: update takes new values on the same pattern") {
    const auto first = testing::random_matrix(900, 6, 2, 41);
    auto second = first;
    for (std::size_t k = 0; k < second.values.size(); ++k)
        second.values[k] = 1.0 / static_cast<double>(k + 1);
    const auto x0 = random_values<double>(900, 42);
    for (const auto kind : recordable_operators())
        for (const auto format : testing::formats_of(group.kind())) {
            CAPTURE(name_of(kind));
            CAPTURE(name_of(format));
            const auto a = make_operator(group, first, {kind, format});
            execution run(group, {});
            auto source = testing::make_range_vector(a->layout(), x0);
            auto x = a->make_domain_vector();
            auto y = a->make_range_vector();
            fused(run, x = source);
            const auto multiplies_with = [&](const csr_matrix<double>& matrix) {
                const auto expected = testing::product(matrix, 1.0, x0, 0.0, x0);
                const auto result = values_of(y);
                bool good = true;
                for (std::size_t i = 0; i < result.size(); ++i)
                    good = good && expected[i].allows<double>(result[i]);
                return good;
            };
            a->apply(run, 1.0, x, 0.0, y);
            CHECK(multiplies_with(first));
            a->update(second.values); // no wait: the update is ordered after the product
            a->apply(run, 1.0, x, 0.0, y);
            CHECK(multiplies_with(second));
            a->update(first.values);
            a->apply(run, 1.0, x, 0.0, y);
            CHECK(multiplies_with(first));
            CHECK_FALSE(multiplies_with(second));
            CHECK_THROWS_AS(a->update(std::span(first.values).first(10)), usage_error);
            CHECK_THROWS_AS(a->update({}), usage_error);
        }
}

// x and y alternate: with nz a device may still read what a peer is about to overwrite.
KRYLITH_GROUP_TEST("operators: chains of products in recorded and eager loops, the same bits") {
    const auto matrix = testing::random_matrix(800, 4, 3, 43);
    const auto x0 = random_values<double>(800, 44);
    for (const auto kind : recordable_operators())
        for (const auto format : testing::formats_of(group.kind())) {
            CAPTURE(name_of(kind));
            CAPTURE(name_of(format));
            const auto a = make_operator(group, matrix, {kind, format});
            std::vector<double> expected;
            for (int round = 0; round < 3; ++round)
                for (const auto mode : modes_of(*a)) {
                    execution run(group, {.mode = mode, .unroll = 3});
                    auto x = a->make_domain_vector();
                    auto y = a->make_domain_vector();
                    auto source = testing::make_range_vector(a->layout(), x0);
                    scalar xy(run), scale(run);
                    fused(run, x = source);
                    (void)iterate(run, 13, [&] {
                        const reduction_into<double> dots[] = {xy = dot(y, y)};
                        a->apply(run, 1.0, x, 0.0, y, dots);
                        scale = xy / xy * sqrt(xy) / xy;
                        fused(run, y = scale * y);
                        a->apply(run, 0.5, y, 0.25, x);
                        put_ghosts(run, x); // x was written by a product, not by fused()
                    });
                    run.flush();
                    CHECK(testing::copies_agree(x));
                    auto result = values_of(x);
                    result.push_back(run.get(xy.number()));
                    CHECK(std::isfinite(result.back()));
                    if (expected.empty()) expected = result;
                    CHECK(same_bits(result, expected));
                }
        }
}

// Only the transfer of x orders the devices here: there are no dot products and no ghosts of
// fused(). A permutation shows every entry that was read too early or too late.
KRYLITH_GROUP_TEST("operators: products without dots wait for each other") {
    const auto x0 = random_values<double>(2600, 50);
    for (const auto kind : recordable_operators())
        for (const auto mode : modes_of(group)) {
            CAPTURE(name_of(kind));
            CAPTURE(mode == execution_mode::recorded);
            const auto a = make_operator(group, testing::shift_matrix(2600, 1301), {.kind = kind});
            execution run(group, {.mode = mode, .unroll = 4});
            auto x = a->make_domain_vector();
            auto y = a->make_domain_vector();
            auto source = testing::make_range_vector(a->layout(), x0);
            fused(run, x = source);
            constexpr int trips = 60;
            (void)iterate(run, trips, [&] {
                a->apply(run, 1.0, x, 0.0, y);
                put_ghosts(run, y);
                a->apply(run, 1.0, y, 0.0, x);
                put_ghosts(run, x);
                a->apply(run, 1.0, x, 0.0, y);
                fused(run, x = y); // of replicated vectors it also reads what peers have sent
            });
            run.flush();
            CHECK(testing::copies_agree(x));
            auto expected = x0;
            std::rotate(expected.begin(), expected.begin() + 1301 * 3 * trips % 2600,
                        expected.end());
            CHECK(values_of(x) == expected);
        }
}

// Which device holds the entries of a row decides its sum, not which device owns the row.
TEST_CASE("operators: one device and several give the same result, bit by bit") {
    const auto matrix = testing::random_matrix(600, 8, 1, 45);
    const auto x0 = random_values<double>(600, 46);
    for (const auto kind : recordable_operators()) {
        if (kind->sends == sent_data::x_and_partial_sums) continue;
        std::vector<double> expected;
        for (const auto& group : testing::host_groups()) {
            const auto a = make_operator(group, matrix, {.kind = kind});
            execution run(group, {});
            auto source = testing::make_range_vector(a->layout(), x0);
            auto x = a->make_domain_vector();
            auto y = a->make_range_vector();
            fused(run, x = source);
            a->apply(run, 1.0, x, 0.0, y);
            if (expected.empty()) expected = values_of(y);
            CHECK(same_bits(values_of(y), expected));
        }
    }
}

KRYLITH_GROUP_TEST("operators: auto takes halo for grids, and not for matrices without structure") {
    // On this machine transfers hide behind the product of 3600 rows.
    const mocked_rates slow({1e9, 1e9, 1e8, 1e8, {1e-6}});
    const auto grid = make_operator(group, poisson2d<double>(60, random_scaling{3}));
    // On this one they don't, and whole vectors cost nothing.
    const mocked_rates slow_link({1e15, 1e9, 5e7, 1e8, {1e-6}});
    const auto random = make_operator(group, testing::random_matrix(600, 20, 1, 47));
    CHECK(grid->kind() == operators::halo);
    CHECK((random->kind() == operators::halo) == (group.size() == 1));
    std::int64_t bytes = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
        CHECK(grid->received(rank) <= 2 * 62);
        CHECK(random->received(rank) <= 600);
        bytes += grid->matrix_bytes(rank);
    }
    CHECK(bytes >= 8 * poisson2d<double>(60).nnz()); // at least the values, which all differ
    CHECK_FALSE(grid->format_name().empty());
    CHECK(grid->recordable());
}

KRYLITH_GROUP_TEST("operators: the memory of one goes with it") {
    std::vector<std::size_t> before;
    for (int rank = 0; rank < group.size(); ++rank) before.push_back(group[rank].ledger().live());
    const auto matrix = testing::random_matrix(300, 8, 1, 48);
    for (const auto kind : recordable_operators())
        for (const auto format : testing::formats_of(group.kind())) {
            const auto a = make_operator(group, matrix, {kind, format});
            CHECK(group[0].ledger().items().at("matrix") > 0);
        }
    for (int rank = 0; rank < group.size(); ++rank)
        CHECK(group[rank].ledger().live() == before[static_cast<std::size_t>(rank)]);
}

KRYLITH_GROUP_TEST("operators: what can't be multiplied is refused, and leaves all usable") {
    const auto matrix = testing::laplace_1d(20);
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    const auto b = make_operator(group, matrix, {.kind = operators::halo});
    execution run(group, {});
    auto x = a->make_domain_vector();
    auto y = a->make_range_vector();
    auto other = b->make_range_vector();
    auto plain = a->make_range_vector();
    scalar s(run), t(run), u(run);
    CHECK_THROWS_AS(a->apply(run, 1.0, x, 0.0, other), usage_error);
    CHECK_THROWS_AS(a->apply(run, 1.0, other, 0.0, y), usage_error);
    CHECK_THROWS_AS(a->apply(run, 1.0, x, 0.0, x), usage_error);
    if (group.size() > 1) CHECK_THROWS_AS(a->apply(run, 1.0, plain, 0.0, y), usage_error);
    // Of operators between the same vectors x suits those whose rows refer to the same entries.
    csr_matrix<double> far = matrix;
    for (std::int32_t& column : far.column_indices) column = (column + 10) % 20;
    const auto of_others = make_operator(a->layouts(), far);
    if (group.size() > 1)
        CHECK_THROWS_WITH_AS(of_others->apply(run, 1.0, x, 0.0, y),
                             doctest::Contains("must come from make_domain_vector()"), usage_error);
    CHECK_NOTHROW(make_operator(a->layouts(), matrix)->apply(run, 1.0, x, 0.0, y));
    run.flush();
    const reduction_into<double> three[] = {s = dot(y, y), t = dot(y, x), u = dot(x, y)};
    CHECK_THROWS_AS(a->apply(run, 1.0, x, 0.0, y, three), usage_error);
    const reduction_into<double> unrelated[] = {s = dot(x, x)};
    CHECK_THROWS_AS(a->apply(run, 1.0, x, 0.0, y, unrelated), usage_error);

    csr_matrix<double> wide = matrix;
    wide.columns = 21;
    const auto wider = make_operator(group, wide, {.kind = operators::halo});
    CHECK_THROWS_AS(wider->apply(run, 1.0, x, 0.0, y), usage_error);
    CHECK_THROWS_AS((void)wider->layout(), usage_error);
    CHECK_THROWS_AS((void)make_operator(group, wide, {.order = orders::rcm}), usage_error);
    csr_matrix<double> broken = matrix;
    broken.column_indices[3] = 20;
    CHECK_THROWS_AS((void)make_operator(group, broken), input_error);
    broken.column_indices[3] = -1;
    CHECK_THROWS_AS((void)make_operator(group, broken), input_error);
    const auto usable = testing::formats_of(group.kind());
    for (const auto format : formats::all) {
        if (std::ranges::count(usable, format) != 0) continue;
        CAPTURE(to_string(format));
        CHECK_THROWS_WITH_AS((void)make_operator(group, matrix, {.format = format}),
                             doctest::Contains("devices have: auto, csr"), usage_error);
    }

    plain.upload(std::vector<double>(20, 1.0));
    fused(run, x = plain);
    a->apply(run, 1.0, x, 0.0, y, std::span(three, 2));
    CHECK(run.get(s.number()) == 2);
    CHECK(run.get(t.number()) == 2);
}

TEST_CASE("operators: names are parsed, and unknown ones get the nearest") {
    for (const auto kind : recordable_operators())
        CHECK(parse_operator_kind(to_string(kind)) == kind);
    CHECK(parse_operator_kind("auto") == operators::automatic);
    CHECK(parse_transport_kind("auto") == transports::automatic);
    for (const auto kind : transports::all) CHECK(parse_transport_kind(to_string(kind)) == kind);
    CHECK(parse_format_kind("auto") == formats::automatic);
    for (const auto kind : formats::all) CHECK(parse_format_kind(to_string(kind)) == kind);
    CHECK_THROWS_WITH_AS((void)parse_operator_kind("hallo"),
                         doctest::Contains("did you mean 'halo'"), usage_error);
    CHECK_THROWS_WITH_AS((void)parse_format_kind("cell"), doctest::Contains("did you mean 'sell'"),
                         usage_error);
    CHECK_THROWS_WITH_AS((void)parse_transport_kind("store"),
                         doctest::Contains("did you mean 'peer-store'"), usage_error);
    CHECK_THROWS_AS((void)parse_format_kind(""), usage_error);
}

} // namespace krylith
