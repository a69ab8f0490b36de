// ILU(0) and IC(0) as preconditioners of solves: orders, new values, and what is refused.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/ic0.hpp>
#include <krylith/precond/ilu0.hpp>
#include <krylith/precond/ilut.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::problem;
using testing::random_values;
using testing::same_bits;

namespace {

using view = csr_view<double>;
constexpr elimination_order ilu0_orders[] = {elimination_order::natural,
                                             elimination_order::colours};

/// The same matrix, its entries in another order and some in two parts.
csr_matrix<double> shuffled_entries(const csr_matrix<double>& a) {
    csr_matrix<double> result{a.rows, a.columns, {0}, {}, {}};
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
        for (auto k = static_cast<std::size_t>(a.row_offsets[i + 1]);
             k > static_cast<std::size_t>(a.row_offsets[i]); --k) {
            result.column_indices.push_back(a.column_indices[k - 1]);
            result.values.push_back(a.values[k - 1] / 2);
        }
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            result.column_indices.push_back(a.column_indices[k]);
            result.values.push_back(a.values[k] / 2);
        }
        result.row_offsets.push_back(static_cast<std::int64_t>(result.values.size()));
    }
    return result;
}

} // namespace

KRYLITH_GROUP_TEST("ilu0: fewer iterations than without, in any order of rows") {
    const auto matrix = make_gallery<double>("convection_diffusion:9:60");
    for (const bool reordered : {false, true}) {
        CAPTURE(reordered);
        operator_options how;
        if (reordered) how.order = orders::rcm;
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 8), how);
        const solve_result plain = gmres(*p.a, p.b, p.x, {.rtol = 1e-8});
        CHECK(plain.converged());
        for (const elimination_order order : ilu0_orders) {
            CAPTURE(to_string(order));
            p.x.zero();
            const ilu0<double> m(*p.a, matrix, {.order = order});
            const solve_result found = gmres(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
            INFO(testing::describe(found));
            CHECK(found.converged());
            CHECK(p.relative_residual() <= 1e-8);
            CHECK(found.iterations < plain.iterations);
            CHECK(m.order() == order);
            CHECK((m.colours() != 0) == (order == elimination_order::colours));
        }
    }
}

KRYLITH_GROUP_TEST("ic0: conjugate gradients take half the iterations, fp64 and fp32") {
    const auto matrix = make_gallery<double>("poisson3d:16");
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 12),
                      {.kind = operators::nz}); // each device has the whole matrix
    const solve_result plain = cg(*p.a, p.b, p.x, {.rtol = 1e-8});
    const std::int64_t limits[] = {24, 34}; // 23 and 31 on one device
    for (const elimination_order order : ilu0_orders) {
        CAPTURE(to_string(order));
        p.x.zero();
        const ic0<double> m(*p.a, matrix, {.order = order});
        const solve_result found = cg(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
        INFO(testing::describe(found));
        CHECK(found.converged());
        CHECK(p.relative_residual() <= 1e-8);
        CHECK(found.iterations <= limits[order == elimination_order::colours ? 1 : 0]);
        CHECK(3 * found.iterations <= 2 * plain.iterations);
    }
    const auto narrow = testing::converted<float>(matrix);
    problem<float> q(group, narrow, random_values<float>(matrix.rows, 12));
    const ic0<float> m(*q.a, narrow);
    CHECK(cg(*q.a, q.b, q.x, {.rtol = 1e-4}, m).converged());
}

KRYLITH_GROUP_TEST(
    "ilu0 and ic0: colours are those of the matrix, whatever devices have its rows") {
    const auto matrix = make_gallery<double>("poisson2d:13");
    const auto r = random_values<double>(matrix.rows, 3);
    const auto host = device_group::host(1);
    const auto one = make_operator(host, matrix);
    const ic0<double> alone(*one, matrix, {.order = elimination_order::colours});
    const auto expected = testing::to_eigen(applied(*one, alone, r));
    const auto spread = make_operator(group, matrix);
    CHECK(ic0<double>(*spread, matrix, {.order = elimination_order::colours}).colours() ==
          alone.colours());
    const auto whole = make_operator(group, matrix, {.kind = operators::nz});
    const ic0<double> m(*whole, matrix, {.order = elimination_order::colours});
    const auto z = testing::to_eigen(applied(*whole, m, r));
    CHECK((z - expected).norm() <= 1e-13 * expected.norm());
    CHECK(m.nonzeros() == matrix.nnz() * group.size());
}

KRYLITH_GROUP_TEST("ilu0 and ic0: new values on the pattern give what a new factorisation gives") {
    const auto matrix = make_gallery<double>("poisson2d:14");
    const auto r = random_values<double>(matrix.rows, 5);
    for (const elimination_order order : ilu0_orders) {
        CAPTURE(to_string(order));
        problem<double> p(group, matrix, r);
        ic0<double> m(*p.a, matrix, {.order = order});
        const auto before = applied(*p.a, m, r);
        CHECK(cg(*p.a, p.b, p.x, {}, m).converged());
        auto other = matrix;
        for (std::size_t k = 0; k < other.values.size(); ++k)
            other.values[k] *= other.values[k] > 0 ? 1.5 : 0.75;
        m.update(view(other));
        const ic0<double> fresh(*p.a, other, {.order = order});
        CHECK(same_bits(applied(*p.a, m, r), applied(*p.a, fresh, r)));
        p.a->update(other.values);
        const solve_result again = cg(*p.a, p.b, p.x, {}, m); // what was recorded has new values
        CHECK(again.converged());
        p.x.zero();
        const solve_result by_fresh = cg(*p.a, p.b, p.x, {}, fresh);
        p.x.zero();
        CHECK(cg(*p.a, p.b, p.x, {}, m).iterations == by_fresh.iterations);

        auto bad = other;
        for (double& value : bad.values) value = -value;
        const auto then = applied(*p.a, m, r);
        CHECK_THROWS_AS(m.update(view(bad)), input_error);
        CHECK(same_bits(applied(*p.a, m, r), then)); // as it was
        CHECK_FALSE(same_bits(then, before));

        const auto wider = make_gallery<double>("poisson2d_9point:14");
        m.update(view(wider)); // another pattern
        const ic0<double> of_wider(*p.a, wider, {.order = order});
        CHECK(same_bits(applied(*p.a, m, r), applied(*p.a, of_wider, r)));
    }
}

KRYLITH_GROUP_TEST("ilu0: unsorted entries and repeated ones count as those of a sorted matrix") {
    const auto matrix = make_gallery<double>("convection_diffusion:6:20");
    const auto twice = shuffled_entries(matrix);
    const auto r = random_values<double>(matrix.rows, 9);
    for (const elimination_order order : ilu0_orders) {
        const auto a = make_operator(group, matrix);
        const ilu0<double> m(*a, matrix, {.order = order});
        const ilu0<double> other(*a, twice, {.order = order});
        const auto expected = testing::to_eigen(applied(*a, m, r));
        CHECK((testing::to_eigen(applied(*a, other, r)) - expected).norm() <=
              1e-13 * expected.norm());
    }
}

KRYLITH_GROUP_TEST("ilu0 and ic0: refuse pivots by their row, and take a shift") {
    auto matrix = testing::laplace_1d(30);
    for (auto k = matrix.row_offsets[20]; k < matrix.row_offsets[21]; ++k)
        matrix.values[static_cast<std::size_t>(k)] = 0; // as an empty row
    for (const elimination_order order : ilu0_orders) {
        const auto a = make_operator(group, matrix);
        CHECK_THROWS_WITH_AS((ilu0<double>(*a, matrix, {.order = order})),
                             doctest::Contains("ilu0: the pivot of row 20 (counted from 0) is 0"),
                             input_error);
        CHECK_THROWS_WITH_AS((ic0<double>(*a, matrix, {.order = order})),
                             doctest::Contains("must be positive; ic0_options::shift"),
                             input_error);
    }
    testing::triplets entries;
    for (int i = 0; i < 30; ++i)
        if (i != 7) entries.push_back({i, i, 2.0});
    const auto empty_row = testing::from_triplets(30, entries);
    operator_options how;
    how.order = orders::rcm;
    const auto a = make_operator(group, empty_row, how);
    CHECK_THROWS_WITH_AS((ilu0<double>(*a, empty_row)),
                         doctest::Contains("ilu0: the pivot of row 7 (counted from 0) is 0"),
                         input_error);

    auto indefinite = testing::laplace_1d(30);
    indefinite.values[static_cast<std::size_t>(indefinite.row_offsets[11] + 1)] = 1e-3;
    const auto b = make_operator(group, indefinite);
    CHECK_THROWS_AS((ic0<double>(*b, indefinite)), input_error);
    const ic0<double> shifted(*b, indefinite, {.shift = 2});
    CHECK(shifted.name() == "ic0:order=" + std::string(to_string(shifted.order())) + ":shift=2");
}

KRYLITH_GROUP_TEST("ilu0 and ic0: refuse what they can't factor") {
    const auto matrix = testing::laplace_1d(30);
    const auto a = make_operator(group, matrix);
    CHECK_THROWS_WITH_AS((ilu0<double>(*a, matrix, {.shift = -1})),
                         doctest::Contains("ilu0_options::shift is -1; allowed is 0 to 1e+06"),
                         usage_error);
    CHECK_THROWS_WITH_AS((ic0<double>(*a, testing::laplace_1d(31))),
                         doctest::Contains("a matrix of 31 x 31 for an operator of 30 rows"),
                         usage_error);
    auto bad = matrix;
    bad.values[static_cast<std::size_t>(bad.row_offsets[20])] =
        std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH_AS((ilu0<double>(*a, bad)),
                         doctest::Contains("an entry of row 20 (counted from 0) is not finite"),
                         input_error);
    const auto whole = make_operator(group, matrix, {.kind = operators::nz});
    testing::triplets entries;
    for (int i = 0; i < 30; ++i) entries.push_back({i, i, 2.0});
    entries.push_back({9, 4, -1.0});
    CHECK_THROWS_WITH_AS((ic0<double>(*whole, testing::from_triplets(30, entries),
                                      {.order = elimination_order::natural})),
                         doctest::Contains("ic0: row 9 (counted from 0) has an entry whose mirror"),
                         input_error);
    const ilu0<double> m(*a, matrix, {.order = elimination_order::natural});
    CHECK(m.name() == "ilu0:order=natural");
    CHECK(m.reason().starts_with("natural order, as it was asked for"));
    auto b = testing::make_range_vector(a->layout(), random_values<double>(30, 1));
    auto x = a->make_range_vector();
    CHECK_THROWS_WITH_AS((void)cg(*a, b, x, {}, m),
                         doctest::Contains("ilu0:order=natural is not symmetric"), usage_error);
    const auto another = make_operator(group, testing::laplace_1d(31));
    const auto r = another->make_range_vector();
    auto z = another->make_range_vector();
    execution run(group, {});
    CHECK_THROWS_WITH_AS(m.apply(run, r, z),
                         doctest::Contains("ilu0 was made for vectors of another operator"),
                         usage_error);
}

KRYLITH_GROUP_TEST("ilu0: the whole battery is factored, or refused by a row") {
    for (const testing::battery_entry& entry : testing::battery()) {
        CAPTURE(entry.name);
        if (entry.matrix.rows != entry.matrix.columns || entry.matrix.rows > 600) continue;
        const auto a = make_operator(group, entry.matrix);
        for (const elimination_order order : ilu0_orders) {
            std::string refused;
            try {
                const ilu0<double> m(*a, entry.matrix, {.order = order});
                const auto z = applied(*a, m, random_values<double>(entry.matrix.rows, 2));
                CHECK(z.size() == static_cast<std::size_t>(entry.matrix.rows));
            } catch (const input_error& error) {
                refused = error.what();
                CHECK(refused.find("row ") != std::string::npos);
            }
        }
    }
}

KRYLITH_GROUP_TEST("ilu0: any allocation may fail, and nothing is kept then") {
    const auto matrix = make_gallery<double>("convection_diffusion:5:20");
    const auto a = make_operator(group, matrix);
    const auto before = testing::live_bytes(group);
    for (const elimination_order order : ilu0_orders) {
        bool made = false;
        for (int k = 0; !made; k += 1 + k / 8) {
            CAPTURE(k);
            const testing::short_memory failing(group, k);
            try {
                const ilu0<double> m(*a, matrix, {.order = order});
                made = failing.count() <= k;
                CHECK(made);
            } catch (const device_error&) {
            }
            CHECK(testing::live_bytes(group) == before);
        }
    }
}

KRYLITH_GROUP_TEST("ilu0 and ilut: solves wait for what peers send of replicated vectors") {
    const auto matrix = make_gallery<double>("convection_diffusion:6:20");
    for (const operator_kind kind :
         {operators::nz, operators::two_nz, operators::lra, operators::lra_rc}) {
        CAPTURE(to_string(kind));
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 8), {.kind = kind});
        const ilu0<double> strict(*p.a, matrix);
        const ilut<double> loose(*p.a, matrix);
        for (const side on_side : {side::left, side::right})
            for (int repetition = 0; repetition < 5; ++repetition) {
                const solver_options options{
                    .rtol = 1e-8, .preconditioning = on_side, .mode = execution_mode::automatic};
                p.x.zero();
                CHECK(bicgstab(*p.a, p.b, p.x, options, strict).converged());
                CHECK(p.relative_residual() <= 1e-8);
                CHECK(testing::copies_agree(p.x));
                p.x.zero();
                CHECK(bicgstab(*p.a, p.b, p.x, options, loose).converged());
                CHECK(p.relative_residual() <= 1e-8);
                CHECK(testing::copies_agree(p.x));
            }
    }
}

KRYLITH_GROUP_TEST("ic0: the program of its header") {
    const auto matrix = poisson3d<double>(7, 6, 5);
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1));
    const ic0<double> m(*a, matrix);
    const solve_result result = cg(*a, b, x, {}, m);
    CHECK(result.converged());
}

KRYLITH_GROUP_TEST("ilu0: the program of its header") {
    const auto matrix = convection_diffusion<double>(8, 20);
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1));
    const ilu0<double> m(*a, matrix);
    const solve_result result = gmres(*a, b, x, {}, m);
    CHECK(result.converged());
}

} // namespace krylith
