// ilu0 and ilut with blocks that overlap.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/ilu0.hpp>
#include <krylith/precond/ilut.hpp>
#include <krylith/solvers/bicgstab.hpp>
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

namespace {

constexpr elimination_order overlap_orders[] = {elimination_order::natural,
                                                elimination_order::colours};

/// Applies both to the same vector and compares.
template <class One, class Other>
void check_alike(const matrix_operator<double>& a, const One& one, const matrix_operator<double>& b,
                 const Other& other) {
    const auto r = random_values<double>(a.rows(), 4);
    const auto expected = testing::to_eigen(applied(b, other, r));
    CHECK((testing::to_eigen(applied(a, one, r)) - expected).norm() <= 1e-13 * expected.norm());
}

} // namespace

KRYLITH_GROUP_TEST("overlap: blocks that reach over all rows are those of one device") {
    const auto matrix = make_gallery<double>("convection_diffusion:6:20");
    const auto host = device_group::host(1);
    const auto one = make_operator(host, matrix);
    for (const bool reordered : {false, true}) {
        CAPTURE(reordered);
        operator_options how{.kind = operators::halo};
        if (reordered) how.order = orders::rcm;
        const auto a = make_operator(group, matrix, how);
        const auto same_order = make_operator(host, matrix, how);
        check_alike(
            *a, ilu0<double>(*a, matrix, {.order = elimination_order::natural, .overlap = 40}),
            *same_order, ilu0<double>(*same_order, matrix, {.order = elimination_order::natural}));
        check_alike(*a, ilut<double>(*a, matrix, {.overlap = 40}), *same_order,
                    ilut<double>(*same_order, matrix));
    }
}

KRYLITH_GROUP_TEST("overlap: fewer iterations on several devices, the same on one") {
    const auto matrix = make_gallery<double>("convection_diffusion:12:60");
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 8),
                      {.kind = operators::halo});
    const auto iterations = [&](const auto& m) {
        std::int64_t most = 0;
        for (const execution_mode mode : {execution_mode::automatic, execution_mode::eager})
            for (const side on_side : {side::left, side::right}) {
                p.x.zero();
                const solve_result found = gmres(
                    *p.a, p.b, p.x, {.rtol = 1e-8, .preconditioning = on_side, .mode = mode}, m);
                INFO(testing::describe(found));
                CHECK(found.converged());
                CHECK(p.relative_residual() <= 1e-8);
                most = std::max(most, found.iterations);
            }
        return most;
    };
    for (const elimination_order order : overlap_orders) {
        CAPTURE(to_string(order));
        const std::int64_t apart = iterations(ilu0<double>(*p.a, matrix, {.order = order}));
        const std::int64_t one =
            iterations(ilu0<double>(*p.a, matrix, {.order = order, .overlap = 1}));
        if (group.size() == 1) CHECK(one == apart);
        if (group.size() > 1 && order == elimination_order::natural) CHECK(one < apart);
    }
    const std::int64_t apart = iterations(ilut<double>(*p.a, matrix));
    const std::int64_t one = iterations(ilut<double>(*p.a, matrix, {.overlap = 1}));
    const std::int64_t two = iterations(ilut<double>(*p.a, matrix, {.overlap = 2}));
    CHECK(one <= apart);
    CHECK(two <= one);
    if (group.size() > 1) CHECK(two < apart);
}

KRYLITH_GROUP_TEST("overlap: exchanges and solves follow each other in a recorded loop") {
    const auto matrix = make_gallery<double>("convection_diffusion:7:20");
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 18),
                      {.kind = operators::halo});
    const ilu0<double> m(*p.a, matrix, {.overlap = 1});
    std::int64_t first = 0;
    for (int repetition = 0; repetition < 8; ++repetition) {
        p.x.zero();
        const solve_result found = bicgstab(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
        CHECK(found.converged());
        CHECK(p.relative_residual() <= 1e-8);
        if (repetition == 0) first = found.iterations;
        CHECK(found.iterations == first);
    }
}

KRYLITH_GROUP_TEST("overlap: new values and new patterns") {
    const auto matrix = make_gallery<double>("convection_diffusion:6:20");
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    auto other = matrix;
    for (std::size_t k = 0; k < other.values.size(); ++k)
        other.values[k] *= other.values[k] > 0 ? 1.5 : 0.75;
    const auto wider = make_gallery<double>("poisson3d_27point:6");
    // The rows of each block see their neighbours, all but the first and last, one further on.
    testing::triplets one_on;
    testing::triplets two_on;
    const std::int64_t n = matrix.rows;
    for (std::int64_t i = 0; i < n; ++i) {
        one_on.push_back({i, i, 4.0});
        two_on.push_back({i, i, 4.0});
        one_on.push_back({i, (i + n / 2) % n, 1.0});
        two_on.push_back({i, (i + n / 2 + 1) % n, 1.0});
    }
    for (const elimination_order order : overlap_orders) {
        CAPTURE(to_string(order));
        const ilu0_options options{.order = order, .overlap = 1};
        ilu0<double> m(*a, matrix, options);
        ilut<double> loose(*a, matrix, {.overlap = 1});
        for (const csr_matrix<double>& next :
             {other, wider, testing::from_triplets(n, one_on), testing::from_triplets(n, two_on)}) {
            m.update(csr_view<double>(next));
            check_alike(*a, m, *a, ilu0<double>(*a, next, options));
            loose.update(csr_view<double>(next));
            check_alike(*a, loose, *a, ilut<double>(*a, next, {.overlap = 1}));
        }
    }
}

KRYLITH_GROUP_TEST("overlap: no effect where devices have the whole matrix") {
    const auto matrix = make_gallery<double>("convection_diffusion:5:20");
    const auto a = make_operator(group, matrix, {.kind = operators::nz});
    check_alike(*a, ilu0<double>(*a, matrix, {.overlap = 1}), *a, ilu0<double>(*a, matrix));
    check_alike(*a, ilut<double>(*a, matrix, {.overlap = 1}), *a, ilut<double>(*a, matrix));
}

KRYLITH_GROUP_TEST("overlap: names, and what is refused") {
    const auto matrix = testing::laplace_1d(30);
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    CHECK(make_preconditioner<double>("ilu0:order=natural:overlap=1", *a, matrix).name() ==
          "ilu0:order=natural:overlap=1");
    CHECK(make_preconditioner<double>("ilut:overlap=2", *a, matrix).name() ==
          "ilut:drop=0.001:fill=5:overlap=2");
    CHECK_THROWS_WITH_AS((ilu0<double>(*a, matrix, {.overlap = -1})),
                         "ilu0_options::overlap is -1; allowed is 0 to 100", usage_error);
    CHECK_THROWS_WITH_AS((ilut<double>(*a, matrix, {.overlap = 101})),
                         "ilut_options::overlap is 101; allowed is 0 to 100", usage_error);
    auto bad = matrix;
    for (auto k = bad.row_offsets[20]; k < bad.row_offsets[21]; ++k)
        bad.values[static_cast<std::size_t>(k)] = 0; // as an empty row
    CHECK_THROWS_WITH_AS((ilu0<double>(*a, bad, {.overlap = 1})),
                         doctest::Contains("ilu0: the pivot of row 20 (counted from 0) is 0"),
                         input_error);
}

KRYLITH_GROUP_TEST("overlap: the battery, and more devices than rows") {
    for (const testing::battery_entry& entry : testing::battery()) {
        CAPTURE(entry.name);
        if (entry.matrix.rows != entry.matrix.columns || entry.matrix.rows > 300) continue;
        const auto a = make_operator(group, entry.matrix, {.kind = operators::halo});
        const auto r = random_values<double>(entry.matrix.rows, 2);
        for (const elimination_order order : overlap_orders) try {
                const ilu0<double> m(*a, entry.matrix, {.order = order, .overlap = 1});
                CHECK(applied(*a, m, r).size() == r.size());
            } catch (const input_error& error) {
                CHECK(std::string(error.what()).find("row ") != std::string::npos);
            }
    }
}

KRYLITH_GROUP_TEST("overlap: any allocation may fail, and nothing is kept then") {
    const auto matrix = make_gallery<double>("convection_diffusion:4:20");
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    const auto before = testing::live_bytes(group);
    const auto attempt = [&](const auto& make) {
        bool made = false;
        for (int k = 0; !made; k += 1 + k / 8) {
            CAPTURE(k);
            const testing::short_memory failing(group, k);
            try {
                make();
                made = failing.count() <= k;
                CHECK(made);
            } catch (const device_error&) {
            }
            CHECK(testing::live_bytes(group) == before);
        }
    };
    attempt([&] { const ilu0<double> m(*a, matrix, {.overlap = 2}); });
    attempt([&] { const ilut<double> m(*a, matrix, {.overlap = 1}); });
}

} // namespace krylith
