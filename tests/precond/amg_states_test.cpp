// Multigrid where something is wrong: matrices that are not what it is for, memory that runs out in
// the middle, updates that fail; and what it keeps after a thousand set-ups.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/uneven_matrix.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::times;

namespace {

using matrix_view = csr_view<double>;

/// A + shift I.
csr_matrix<double> plus_identity(csr_matrix<double> matrix, double shift) {
    for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]);
             k < static_cast<std::size_t>(matrix.row_offsets[row + 1]); ++k)
            if (matrix.column_indices[k] == static_cast<std::int32_t>(row))
                matrix.values[k] += shift;
    return matrix;
}

std::size_t live_bytes(const device_group& group) {
    std::size_t sum = 0;
    for (int rank = 0; rank < group.size(); ++rank) sum += group[rank].ledger().live();
    return sum;
}

/// A matrix of which these options make several levels; rows of 16 bits must be long.
csr_matrix<double> matrix_for(const amg_options& options) {
    if (options.precision == multigrid_precision::fp16) return testing::uneven_27point(6);
    return make_gallery<double>("poisson2d:14:random=1");
}

/// Calls action() with allocation k failing, k = 0, 1, ..., in longer steps further on, and
/// after(refused) after each, until none fails.
template <class Action, class After>
int fail_each_allocation(const device_group& group, const Action& action, const After& after) {
    int failures = 0;
    for (int k = 0;; k += 1 + k / 6) {
        bool refused = false;
        bool happened = false;
        {
            const testing::short_memory failing(group, k);
            try {
                action();
            } catch (const device_error&) {
                refused = true;
            }
            happened = failing.count() > k;
        }
        CAPTURE(k);
        CHECK(refused == happened);
        group.synchronize();
        after(refused);
        if (!happened) return failures;
        ++failures;
    }
}

} // namespace

KRYLITH_GROUP_TEST("amg: a recording doesn't run with half of an update") {
    const auto matrix = make_gallery<double>("poisson3d:14");
    auto changed = matrix;
    for (double& v : changed.values) v *= 3;
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 32));
    amg<double> m(*p.a, matrix, {.reuse = multigrid_reuse::transfer});
    CHECK(gmres(*p.a, p.b, p.x, {}, m).converged());
    {
        int asked = 0;
        const interruption ends([&] { return asked++ == 1; });
        CHECK_THROWS_AS(m.update(matrix_view(changed)), interrupted_error);
    }
    CHECK_THROWS_AS((void)gmres(*p.a, p.b, p.x, {}, m), usage_error);
    m.update(matrix_view(changed));
    CHECK(gmres(*p.a, p.b, p.x, {}, m).converged());
}

KRYLITH_GROUP_TEST("amg: set-up and updates that are interrupted at any step") {
    const auto matrix = make_gallery<double>("poisson3d:14");
    auto changed = matrix;
    for (double& v : changed.values) v *= 3;
    const auto a = make_operator(group, matrix);
    const auto r = random_values<double>(matrix.rows, 31);
    const auto expected = applied(*a, amg<double>(*a, changed), r);
    const std::size_t live = live_bytes(group);
    const auto steps_of = [&](const auto& set_up) {
        for (int step = 0;; ++step) {
            int asked = 0;
            const interruption ends([&] { return asked++ == step; });
            try {
                set_up();
                return step;
            } catch (const interrupted_error&) {
                group.synchronize();
            }
        }
    };
    CHECK(steps_of([&] { (void)amg<double>(*a, matrix); }) > 5);
    group.synchronize();
    CHECK(live_bytes(group) == live);
    for (const auto reuse : {multigrid_reuse::transfer, multigrid_reuse::none}) {
        amg<double> m(*a, matrix, {.reuse = reuse});
        CHECK(steps_of([&] { m.update(matrix_view(changed)); }) > 1);
        CHECK(same_bits(applied(*a, m, r), expected));
    }
}

KRYLITH_GROUP_TEST("amg: a matrix that is not definite ends it early, and good values mend that") {
    const auto good = make_gallery<double>("poisson2d:24");
    const auto bad =
        plus_identity(good, -2); // a positive diagonal, and negative sums over aggregates
    const auto r = random_values<double>(good.rows, 21);
    for (const auto reuse :
         {multigrid_reuse::transfer, multigrid_reuse::values, multigrid_reuse::none}) {
        CAPTURE(static_cast<int>(reuse));
        const amg_options options{.reuse = reuse};
        const auto a = make_operator(group, good);
        const auto expected = applied(*a, amg<double>(*a, good, options), r);

        amg<double> m(*a, bad, options);
        REQUIRE(m.levels().size() == 1);
        const std::string why = m.levels().back().why_last;
        CAPTURE(why);
        CHECK(why.find("A is not positive definite: amg: the diagonal entry of row ") == 0);
        CHECK(why.find(" of the matrix of level 1 is -") != std::string::npos);
        for (const double z : applied(*a, m, r)) REQUIRE(std::isfinite(z));
        m.update(matrix_view(good)); // makes all levels
        CHECK(m.levels().size() > 1);
        CHECK(m.levels().back().why_last.empty());
        CHECK(same_bits(applied(*a, m, r), expected));

        m.update(matrix_view(bad)); // as the constructor
        CHECK(m.levels().size() == 1);
        CHECK(m.levels().back().why_last == why);
        CHECK(same_bits(applied(*a, m, r), applied(*a, amg<double>(*a, bad, options), r)));
        m.update(matrix_view(good));
        CHECK(same_bits(applied(*a, m, r), expected));
    }
}

KRYLITH_GROUP_TEST("amg: entries that are not finite are refused by their row") {
    const auto good = make_gallery<double>("poisson2d:12");
    const auto a = make_operator(group, good);
    amg<double> m(*a, good);
    const auto r = random_values<double>(good.rows, 22);
    const auto before = applied(*a, m, r);
    const auto refused = [&](double value, bool diagonal, const char* words) {
        CAPTURE(value);
        auto bad = good;
        for (auto k = static_cast<std::size_t>(bad.row_offsets[100]);
             k < static_cast<std::size_t>(bad.row_offsets[101]); ++k)
            if ((bad.column_indices[k] == 100) == diagonal) bad.values[k] = value;
        CHECK_THROWS_WITH_AS((amg<double>(*a, bad)), doctest::Contains(words), input_error);
        CHECK_THROWS_WITH_AS(m.update(matrix_view(bad)), doctest::Contains(words), input_error);
        CHECK(same_bits(applied(*a, m, r), before));
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    refused(NAN, true, "the diagonal entry of row 100 (counted from 0) is nan");
    refused(infinity, true, "the diagonal entry of row 100 (counted from 0) is inf");
    refused(0, true, "the diagonal entry of row 100 (counted from 0) is 0");
    refused(NAN, false, "the absolute values of row 100 (counted from 0) add up to nan");
    refused(-infinity, false, "the absolute values of row 100 (counted from 0) add up to inf");
}

KRYLITH_GROUP_TEST("amg: matrices of any size have the same iterations") {
    const auto matrix = make_gallery<double>("poisson2d:20");
    std::int64_t usual = 0;
    for (const int exponent : {0, 900, -900}) {
        CAPTURE(exponent);
        const auto large = times(matrix, std::ldexp(1.0, exponent));
        problem<double> p(group, large, random_values<double>(matrix.rows, 23));
        const amg<double> m(*p.a, large);
        const auto result = cg(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(m.levels().back().why_last.empty());
        if (exponent == 0) usual = result.iterations;
        CHECK(result.iterations == usual);
    }
}

KRYLITH_GROUP_TEST("amg: it says why there is no coarser level") {
    const auto matrix = make_gallery<double>("poisson2d:24");
    const auto a = make_operator(group, matrix);
    CHECK(amg<double>(*a, matrix).levels().back().why_last.empty());
    CHECK(amg<double>(*a, matrix, {.max_levels = 1}).levels().back().why_last ==
          "amg_options::max_levels is 1");
    csr_matrix<double> diagonal{300, 300, {0}, {}, {}};
    for (std::int32_t i = 0; i < 300; ++i) {
        diagonal.column_indices.push_back(i);
        diagonal.values.push_back(1.0 + i);
        diagonal.row_offsets.push_back(i + 1);
    }
    const auto d = make_operator(group, diagonal);
    CHECK(amg<double>(*d, diagonal).levels().back().why_last == "no row has a neighbour");
}

KRYLITH_GROUP_TEST("amg: device memory that runs out in a set-up leaves nothing behind") {
    for (const amg_options& options :
         {amg_options{}, amg_options{.precision = multigrid_precision::fp16}}) {
        CAPTURE(static_cast<int>(options.precision));
        const auto matrix = matrix_for(options);
        const auto a = make_operator(group, matrix);
        const auto r = random_values<double>(matrix.rows, 24);
        const auto expected = applied(*a, amg<double>(*a, matrix, options), r);
        const std::size_t before = live_bytes(group);
        const auto set_up = [&] { const amg<double> m(*a, matrix, options); };
        CHECK(fail_each_allocation(group, set_up,
                                   [&](bool) { CHECK(live_bytes(group) == before); }) > 10);
        CHECK(same_bits(applied(*a, amg<double>(*a, matrix, options), r), expected));
    }
}

KRYLITH_GROUP_TEST("amg: device memory that runs out in an update or an application") {
    for (const amg_options& options : {amg_options{}, amg_options{.reuse = multigrid_reuse::none},
                                       amg_options{.precision = multigrid_precision::fp16}}) {
        const auto reuse = options.reuse;
        CAPTURE(static_cast<int>(reuse));
        CAPTURE(static_cast<int>(options.precision));
        const auto matrix = matrix_for(options);
        const auto changed = times(matrix, 3);
        const auto a = make_operator(group, matrix);
        const auto r = random_values<double>(matrix.rows, 25);
        const auto old = applied(*a, amg<double>(*a, matrix, options), r);
        const auto expected = applied(*a, amg<double>(*a, changed, options), r);
        amg<double> m(*a, matrix, options);
        int left_as_it_was = 0;
        int unusable = 0;
        const int failures = fail_each_allocation(
            group, [&] { m.update(matrix_view(changed)); },
            [&](bool refused) {
                if (!refused) return;
                try { // what it was, or a word that it can't be applied
                    CHECK(same_bits(applied(*a, m, r), old));
                    ++left_as_it_was;
                } catch (const usage_error& e) {
                    CHECK(std::string(e.what()).find("the last update() failed") !=
                          std::string::npos);
                    ++unusable;
                }
                m.update(matrix_view(changed)); // mends it
                CHECK(same_bits(applied(*a, m, r), expected));
                m.update(matrix_view(matrix));
                CHECK(same_bits(applied(*a, m, r), old));
            });
        CHECK(failures == left_as_it_was + unusable);
        CHECK(left_as_it_was > 0);
        if (reuse == multigrid_reuse::none) CHECK(unusable == 0);
        CHECK(same_bits(applied(*a, m, r), expected));
    }
    const auto matrix = matrix_for({});
    const auto a = make_operator(group, matrix);
    const auto r = random_values<double>(matrix.rows, 25);
    const amg<double> m(*a, matrix);
    const auto expected = applied(*a, m, r);
    const std::size_t before = live_bytes(group);
    (void)fail_each_allocation(
        group, [&] { (void)applied(*a, m, r); }, [&](bool) { CHECK(live_bytes(group) == before); });
    CHECK(same_bits(applied(*a, m, r), expected));
}

KRYLITH_GROUP_TEST("amg: set-ups and solves in flat device memory") {
    const auto matrix = make_gallery<double>("poisson1d:200");
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 26));
    std::size_t kept = 0;
    for (int round = 0; round < 40; ++round) {
        {
            amg<double> m(*p.a, matrix);
            CHECK(cg(*p.a, p.b, p.x, {.rtol = 1e-8}, m).converged());
            m.update(matrix_view(matrix));
        }
        p.a->release_workspace();
        group.synchronize();
        if (round == 0) kept = live_bytes(group);
        CHECK(live_bytes(group) == kept);
    }
}

} // namespace krylith
