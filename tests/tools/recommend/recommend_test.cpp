// krylith recommend: its rules, its judgement of trials, and the command as a user runs it.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/matched_rows.hpp>
#include <krylith/partition/nodes/block_size.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/automatic/row_sample.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/neumann.hpp>
#include <krylith/tools/recommend/recommend_run.hpp>

namespace krylith::tool {
using krylith::test::contains;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using krylith::test::write_neumann;
using krylith::testing::from_dense;
using nlohmann::json;

namespace {

candidates plan(const csr_matrix<double>& a) {
    const matrix_statistics s = describe(a);
    return choose_candidates(s, classify(s), sample_rows(csr_view<double>(a)),
                             find_block_size(csr_view<double>(a)));
}

/// Of the solvers and preconditioners whose rules these tests know.
std::vector<std::string> names(const csr_matrix<double>& a) {
    const std::vector<std::string> solvers = {"cg", "gmres", "bicgstab"};
    const std::vector<std::string> preconditioners = {"none", "jacobi"};
    std::vector<std::string> result;
    for (const candidate& c : plan(a).tried)
        if (std::ranges::count(solvers, c.solver) +
                std::ranges::count(preconditioners, c.preconditioner) ==
            2)
            result.push_back(name_of(c));
    return result;
}

bool tries(const csr_matrix<double>& a, const std::string& name) {
    return std::ranges::count(names(a), name) == 1;
}

trial of(verdict outcome, double seconds) {
    trial t;
    t.outcome = outcome;
    t.expected_seconds = seconds;
    return t;
}

} // namespace

TEST_CASE("the rules: cg alone where definite, jacobi where the diagonal varies") {
    CHECK(names(poisson2d<double>(5)) == std::vector<std::string>{"cg"});
    CHECK(names(random_spd<double>(50, 5, 1)) == std::vector<std::string>{"cg + jacobi", "cg"});
    CHECK(tries(from_dense({{2, 3}, {3, 9}}), "cg + jacobi"));
    CHECK(tries(from_dense({{2, 3}, {3, 9}}), "bicgstab + jacobi")); // should it be indefinite
}

TEST_CASE("the rules: no cg without symmetry or with proof of indefiniteness") {
    for (const auto& a : {convection_diffusion<double>(4, 10), from_dense({{1, 2}, {2, 1}}),
                          from_dense({{-2, 1}, {1, -3}}), from_dense({{0, 1}, {-1, 0}})}) {
        for (const std::string& name : names(a)) CHECK_FALSE(name.starts_with("cg"));
        CHECK(std::ranges::any_of(plan(a).left_out, [](const std::string& why) {
            return why.starts_with("cg: ") || why.starts_with("cg, "); // and others like it
        }));
        CHECK_FALSE(names(a).empty());
    }
}

TEST_CASE("the rules: jacobi needs a diagonal without zeros, and a sign for the split side") {
    for (const std::string& name : names(from_dense({{0, 1}, {2, 5}})))
        CHECK_FALSE(contains(name, "jacobi"));
    const auto positive = from_dense({{1, 2}, {3, 1000}});
    CHECK(tries(positive, "bicgstab + jacobi (split)"));
    CHECK(tries(positive, "gmres(30) + jacobi (left)"));
    const auto negative = from_dense({{-1, 2}, {3, 1000}});
    CHECK_FALSE(tries(negative, "bicgstab + jacobi (split)"));
    CHECK(tries(negative, "bicgstab + jacobi (left)"));
    const auto narrow = from_dense({{1, 2}, {3, 7}});
    CHECK_FALSE(tries(narrow, "bicgstab + jacobi (left)"));
    CHECK_FALSE(tries(narrow, "gmres(100) + jacobi")); // 30 vectors are already all
}

TEST_CASE("the rules: rows matched, for preconditioners that zeros on the diagonal rule out") {
    const auto a = from_dense({{0, 8, 0}, {4, 0, 2}, {0, 3, 5}});
    const matrix_statistics s = describe(a);
    const matrix_statistics matched = describe(krylith::matched_rows<double>(a).matrix());
    const candidates plan = choose_candidates(s, classify(s), {}, 1, &matched);
    std::vector<std::string> found;
    for (const candidate& c : plan.tried)
        if (c.match_rows && c.solver == "bicgstab") found.push_back(name_of(c));
    CHECK(found == std::vector<std::string>{"bicgstab + jacobi, rows matched",
                                            "bicgstab + ilu0, rows matched"});
    for (const candidate& c : choose_candidates(s, classify(s)).tried) CHECK_FALSE(c.match_rows);
}

TEST_CASE("the rules: every listed preconditioner that suits is tried, by its row") {
    const auto beam = plan(make_gallery<double>("elasticity3d:4:3:3"));
    const auto plain = plan(random_spd<double>(50, 5, 1));
    for (const preconditioner_method* row : all_preconditioners) {
        CAPTURE(std::string(row->name));
        const auto with_cg = [&](const candidates& of) {
            return std::ranges::any_of(of.tried, [&](const candidate& c) {
                return c.solver == "cg" && c.preconditioner == row->name;
            });
        };
        CHECK(with_cg(beam) == (row->listed && row->suits_definite()));
        CHECK(with_cg(plain) == (row->listed && row->suits_definite() && !row->only_for_nodes));
        const bool said = std::ranges::any_of(plain.left_out, [&](const std::string& why) {
            return why.starts_with(std::string(row->name) + ": ");
        });
        CHECK(said == (row->listed && row->only_for_nodes));
    }
}

TEST_CASE("every candidate has a reason, and the same matrix the same candidates") {
    const auto a = krylith::testing::random_matrix(200, 5, 3, 1);
    for (const candidate& c : plan(a).tried) CHECK_FALSE(c.because.empty());
    CHECK(names(a) == names(a));
}

TEST_CASE("a steady fall is extrapolated, a stalled one is not") {
    std::vector<double> history;
    for (int k = 0; k <= 40; ++k) history.push_back(std::pow(10.0, -k / 10.0)); // 1 to 1e-4
    CHECK(expected_iterations(history, 1e-8) == doctest::Approx(80).epsilon(0.03));
    // The second half is slower: its rate counts, 2 decades in 40 iterations for 4 more.
    for (int k = 1; k <= 40; ++k) history.push_back(1e-4 * std::pow(10.0, -k / 20.0));
    CHECK(expected_iterations(history, 1e-10) == doctest::Approx(160).epsilon(0.03));
    // Jumps don't count against it.
    history[79] = 5;
    CHECK(expected_iterations(history, 1e-10) == doctest::Approx(160).epsilon(0.03));
    CHECK(expected_iterations(std::vector<double>(50, 1.0), 1e-8) == 0);
    CHECK(expected_iterations(std::vector<double>{1, 0.1}, 1e-8) == 0);
    CHECK(expected_iterations(history, 0) == 0);
}

TEST_CASE("of trials that take about as long, the first in the order of the rules wins") {
    using enum verdict;
    CHECK(choose({of(converged, 1.1), of(converged, 1)}) == 0U);
    CHECK(choose({of(converged, 1.3), of(converged, 1)}) == 1U);
    CHECK(choose({of(converged, 9e-4), of(converged, 1e-5)}) == 0U); // both at once
    CHECK(choose({of(converging, 1), of(converged, 9)}) == 1U);
    CHECK(choose({of(failed, 1), of(converging, 9), of(converging, 20)}) == 1U);
    CHECK_FALSE(choose({of(failed, 1), of(failed, 1)}));
    CHECK_FALSE(choose({}));
}

TEST_CASE("a trial that is cut off says that it converges; one that ends says why") {
    const auto a = poisson2d<double>(60);
    const std::vector<double> ones(3600, 1);
    trial_bench bench(device_group::host(1), a, {}, ones);
    const solve_request request;
    const trial whole = bench.run({"cg", "none", side::right, 30, ""}, request, 60);
    CHECK(whole.outcome == verdict::converged);
    CHECK(whole.relative_residual <= 1e-8);
    solve_request short_of = request;
    short_of.options.max_iterations = whole.iterations * 2 / 3;
    const trial cut = bench.run({"cg", "none", side::right, 30, ""}, short_of, 60);
    CHECK(cut.outcome == verdict::converging);
    CHECK(cut.iterations == short_of.options.max_iterations);
    CHECK(cut.expected_iterations > cut.iterations);
    CHECK(cut.expected_iterations < 3 * whole.iterations);

    const auto swapped = from_dense({{0, 1}, {1, 0}});
    trial_bench odd(device_group::host(1), swapped, {}, std::vector<double>{1, -1});
    const trial refused = odd.run({"gmres", "jacobi", side::right, 30, ""}, request, 1);
    CHECK(refused.outcome == verdict::failed);
    CHECK(contains(refused.words, "diagonal entry of row 0"));
    const trial broken = odd.run({"cg", "none", side::right, 30, ""}, request, 1);
    CHECK(broken.outcome == verdict::failed);
    CHECK(contains(broken.words, "not positive definite"));
}

TEST_CASE("the recommended command line solves the system") {
    const temporary_folder folder;
    for (const std::string arguments :
         {"gallery:poisson2d:20", "gallery:convection_diffusion:8:100 --rhs random:3 --rtol 1e-6",
          "'gallery:random_spd:500:9:1' --device-counts 2 --backend host"}) {
        const auto advice =
            run_krylith(folder, "recommend " + arguments + " --seconds 2 --report -");
        REQUIRE_MESSAGE(advice.status == 0, advice.err);
        const json report = json::parse(advice.out);
        CHECK(report.at("found") == true);
        const auto command = report.at("command").get<std::string>();
        CHECK(contains(advice.err, command));
        CHECK(command.starts_with("krylith solve gallery:"));
        CHECK_MESSAGE(run_krylith(folder, command.substr(8)).status == 0, command);
        int devices = 1; // where counts are not given, a machine with several GPUs may take more
        for (const json& row : report.at("placements"))
            if (row.at("chosen")) devices = row.at("devices");
        if (contains(arguments, "--device-counts 2")) CHECK(devices == 2);
        CHECK(contains(command, "--devices " + std::to_string(devices)) == (devices > 1));
        CHECK(contains(command, "--rtol 1e-06") == contains(arguments, "--rtol"));
        int chosen = 0;
        for (const json& row : report.at("trials")) chosen += row.at("chosen") ? 1 : 0;
        CHECK(chosen == 1);
    }
}

TEST_CASE("names with odd characters survive the shell") {
    const temporary_folder folder;
    folder.write("it's a.mtx",
                 "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 3\n");
    const auto advice = run_krylith(folder, "recommend \"it's a.mtx\" --seconds 1 --report -");
    REQUIRE_MESSAGE(advice.status == 0, advice.err);
    const auto command = json::parse(advice.out).at("command").get<std::string>();
    CHECK_MESSAGE(run_krylith(folder, command.substr(8)).status == 0, command);
}

TEST_CASE("where nothing converges it says so, and what is missing") {
    const temporary_folder folder;
    // x_1 + x_2 = 1 twice with different right-hand sides: inconsistent.
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 1\n");
    folder.write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    const auto result = run_krylith(folder, "recommend a.mtx --rhs b.mtx --seconds 1");
    CHECK(result.status == 1);
    CHECK(contains(result.out, "nothing that krylith has converges"));
    CHECK(contains(result.out, "singular"));
    CHECK(contains(result.out, "gmres(30) + ilut:drop=1e-8:fill=100")); // was tried
    CHECK_FALSE(contains(result.out, "--precond ilut:drop=1e-8:fill=100"));
    const auto report = run_krylith(folder, "recommend a.mtx --rhs b.mtx --seconds 1 --report -");
    CHECK(json::parse(report.out).at("found") == false);
    CHECK(json::parse(report.out).at("command").is_null());
}

namespace {

/// poisson1d:3000 with the sign of every third pair of unknowns turned round, and rows in an order
/// in which factors fill, in the words of a file.
std::string turned_chain() {
    std::string text = "%%MatrixMarket matrix coordinate real symmetric\n3000 3000 5999\n";
    const auto sign = [](int i) { return i / 2 % 3 == 0 || i % 7 == 0 ? -1 : 1; };
    const auto place = [](int i) { return 1109 * i % 3000 + 1; };
    for (int i = 0; i < 3000; ++i) {
        text += fmt::format("{0} {0} 2\n", i + 1);
        if (i > 0)
            text += fmt::format("{} {} {}\n", std::max(place(i), place(i - 1)),
                                std::min(place(i), place(i - 1)), -sign(i) * sign(i - 1));
    }
    return text;
}

} // namespace

// CG needs as many iterations as there are rows, and the residual stays for most of them; neither
// factors, which leave out what fills, nor multigrid, which takes neighbours for alike, help at
// once.
TEST_CASE("what the time cut off is called unfinished, with the time that it needs") {
    const temporary_folder folder;
    folder.write("a.mtx", turned_chain());
    const std::string recommend = "recommend a.mtx --rhs random:1 --backend host ";
    const auto hasty = run_krylith(folder, recommend + "--seconds 1e-6");
    CHECK(hasty.status == 1);
    CHECK_FALSE(contains(hasty.out, "nothing that krylith has converges"));
    CHECK_MESSAGE(contains(hasty.out, "20 of 10000 iterations, the residual doesn't fall yet"),
                  hasty.out);
    const std::string all = std::to_string(plan(poisson1d<double>(3000)).tried.size());
    CHECK(contains(hasty.out, "nothing converged in 1e-06 s, and " + all + " of " + all +
                                  " methods were not finished"));
    CHECK(contains(hasty.out, "Give them more time: --seconds "));
    const auto report =
        json::parse(run_krylith(folder, recommend + "--seconds 1e-6 --report -").out);
    CHECK(report.at("trials")[0].at("outcome") == "unfinished");
    CHECK(report.at("seconds_for_all") > 0);
    const auto patient = run_krylith(folder, recommend + "--seconds 60");
    CHECK_MESSAGE(patient.status == 0, patient.out);
}

// On 40,000 rows CG alone takes hundreds of iterations.
TEST_CASE("multigrid is tried, and the time to make it counts") {
    const auto a = poisson2d<double>(200);
    CHECK(std::ranges::any_of(plan(a).tried,
                              [](const candidate& c) { return c.preconditioner == "amg"; }));
    const auto amg_with_cg = [](const candidate& c) {
        return c.preconditioner == "amg" && c.solver == "cg";
    };
    const auto amg_with_gmres = [](const candidate& c) {
        return c.preconditioner == "amg" && c.solver == "gmres";
    };
    const auto flow = plan(convection_diffusion<double>(4, 10)).tried;
    CHECK(std::ranges::none_of(flow, amg_with_cg));
    CHECK(std::ranges::any_of(flow, amg_with_gmres));
    const auto general = plan(krylith::testing::random_matrix(200, 5, 3, 1)).tried;
    CHECK(std::ranges::none_of(general, amg_with_gmres));
    const std::vector<double> ones(40'000, 1);
    trial_bench bench(device_group::host(1), a, {}, ones);
    const trial t = bench.run({"cg", "amg", side::right, 30, ""}, {}, 60);
    CHECK(t.outcome == verdict::converged);
    CHECK(t.iterations < 30);
    CHECK(t.making_seconds > 0);
    CHECK(t.expected_seconds == doctest::Approx(t.making_seconds + t.seconds));
    const trial plain = bench.run({"cg", "none", side::right, 30, ""}, {}, 60);
    CHECK(plain.expected_seconds >= plain.seconds);
    CHECK(plain.iterations > 5 * t.iterations);
}

TEST_CASE("recommend knows the nodes of elasticity, and says where they are") {
    const temporary_folder folder;
    const auto advice = run_krylith(
        folder, "recommend gallery:elasticity3d:12:4:4 --rhs random:1 --seconds 5 --report -");
    REQUIRE_MESSAGE(advice.status == 0, advice.err);
    std::int64_t with = 0;
    const json report = json::parse(advice.out);
    for (const json& row : report.at("trials"))
        if (row.at("solver") == "cg" && row.at("preconditioner") == "amg")
            with = row.at("iterations");
    CHECK(with > 0);
    CHECK(with <= 15);
    recommend_request request;
    request.solve.matrix = "beam.mtx";
    request.solve.coordinates = "the nodes.mtx";
    recommendation r;
    trial best;
    best.method = {"cg", "amg", side::right, 30, ""};
    r.trials = {best};
    r.chosen = 0;
    CHECK(contains(command_line(request, r), "--precond amg --coordinates 'the nodes.mtx'"));
    r.trials[0].method.preconditioner = "jacobi";
    CHECK_FALSE(contains(command_line(request, r), "coordinates"));
}

TEST_CASE("a trial is failed, not unfinished, once it had the iterations of a solve") {
    const auto a = poisson1d<double>(300);
    std::vector<double> b(300);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 3 == 0 ? 1 : -0.3;
    trial_bench bench(device_group::host(1), a, {}, b);
    solve_request request;
    request.options.max_iterations = 40;
    const trial whole = bench.run({"cg", "none", side::right, 30, ""}, request, 60);
    CHECK(whole.outcome == verdict::failed);
    CHECK(whole.iterations == 40);
    request.options.max_iterations = -1;
    const trial cut = bench.run({"cg", "none", side::right, 30, ""}, request, 1e-9);
    CHECK(cut.outcome == verdict::unfinished);
    CHECK(cut.limit == 3000);
    CHECK_FALSE(choose({cut, whole}));
}

TEST_CASE("for a Neumann problem the advice is a right-hand side that has a solution") {
    const temporary_folder folder;
    write_neumann(folder, "neumann.mtx");
    const auto advice = run_krylith(folder, "recommend neumann.mtx --seconds 1");
    CHECK(advice.status == 1); // ones are not in the range
    CHECK(contains(advice.out, "constants in its null space"));
    CHECK(contains(advice.out, "--rhs range:1"));
    CHECK_FALSE(contains(advice.out, "--rhs row-sums"));
    CHECK(run_krylith(folder, "recommend neumann.mtx --rhs range:1 --seconds 1").status == 0);
    const auto nothing = run_krylith(folder, "recommend neumann.mtx --rhs row-sums --seconds 1");
    CHECK_MESSAGE(contains(nothing.out, "--rhs row-sums is 0 up to rounding"), nothing.out);
}

TEST_CASE("recommend refuses what is no system, and wrong options") {
    const temporary_folder folder;
    folder.write("row.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 1\n");
    CHECK(run_krylith(folder, "recommend row.mtx").status == 3);
    CHECK(run_krylith(folder, "recommend gallery:poisson2d:3 --seconds 0").status == 2);
    CHECK(run_krylith(folder, "recommend gallery:poisson2d:3 --rtol 2").status == 2);
    CHECK(run_krylith(folder, "recommend gallery:poisson2d:3 --device-counts 0").status == 2);
    folder.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    CHECK(run_krylith(folder, "recommend none.mtx").status == 0);
}

} // namespace krylith::tool
