// Which methods are planned for which facts: a pure function, without devices.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/automatic/method_plan.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

operator_facts facts(bool symmetric, double least, double most, std::int64_t zeros = 0) {
    operator_facts f;
    f.symmetric = f.positive_forms = symmetric;
    diagonal_facts d;
    d.length = 100;
    d.zeros = zeros;
    d.negative = least < 0 ? 40 : 0;
    d.positive = d.length - d.zeros - d.negative;
    d.least = least;
    d.most = most;
    d.smallest = least > 0 ? least : 1;
    f.diagonal = d;
    return f;
}

/// "cg+jacobi bicgstab+jacobi gmres(100)+jacobi:left"; ! stands for a preconditioner that is made
/// stronger.
std::string planned(const operator_facts& f, const plan_setting& setting = {.rows = 100}) {
    std::string text;
    for (const planned_method& m : plan_methods(f, setting)) {
        CHECK_FALSE(m.because.empty());
        text += (text.empty() ? "" : " ") + std::string(m.solver->name);
        if (m.solver->restarts) text += "(" + std::to_string(m.restart) + ")";
        if (m.preconditioner != nullptr) text += "+" + std::string(m.preconditioner->name);
        if (!m.parameters.empty()) text += "!";
        if (m.on_side != side::right) text += std::string(":") + to_string(m.on_side);
        if (m.most_iterations != 0) text += "/" + std::to_string(m.most_iterations);
    }
    return text;
}

} // namespace

TEST_CASE("method plan: cg first where nothing speaks against a positive definite matrix") {
    CHECK(planned(facts(true, 1, 10)).starts_with("cg+jacobi bicgstab+jacobi gmres(100)+jacobi"));
    CHECK(planned(facts(true, 4, 4)) == "cg bicgstab gmres(100)"); // jacobi changes nothing
    operator_facts refuted = facts(true, 1, 10);
    refuted.positive_forms = false;
    CHECK(planned(refuted).starts_with("bicgstab+jacobi gmres(100)+jacobi"));
    operator_facts unknown = facts(true, 1, 10);
    unknown.diagonal.reset();
    CHECK(planned(unknown) == "cg bicgstab gmres(100)");
}

TEST_CASE("method plan: the general methods, with rows scaled where the diagonal spans much") {
    CHECK(planned(facts(false, 1, 10)) == "bicgstab+jacobi gmres(100)+jacobi gmres(100)");
    CHECK(planned(facts(false, 1, 1e4)) ==
          "bicgstab+jacobi gmres(100)+jacobi:left gmres(100) bicgstab+jacobi:left");
    CHECK(planned(facts(false, -3, 5)) == "bicgstab+jacobi gmres(100)+jacobi gmres(100)");
    CHECK(planned(facts(false, 1, 10, 1)) == "bicgstab gmres(100)");
    CHECK(planned(facts(true, -3, 5)).starts_with("bicgstab"));
}

TEST_CASE("method plan: a preconditioner that is given stands on the side that is given") {
    const plan_setting given{
        .rows = 100, .given_side = side::left, .source = preconditioner_source::given};
    CHECK(planned(facts(false, 1, 1e4), given) == "bicgstab:left gmres(100):left");
    CHECK(planned(facts(true, 1, 1e4), given) == "cg:left bicgstab:left gmres(100):left");
}

TEST_CASE("method plan: what can't be split is put on the right where split is asked for") {
    plan_setting split{.rows = 100, .given_side = side::split};
    CHECK(planned(facts(false, -3, 5), split) ==
          "bicgstab+jacobi gmres(100)+jacobi gmres(100):split"); // -3 has no real root
    CHECK(planned(facts(false, 1, 10), split) ==
          "bicgstab+jacobi:split gmres(100)+jacobi:split gmres(100):split");
    split.source = preconditioner_source::matrix;
    CHECK(planned(facts(false, 1, 10), split) ==
          "bicgstab+jacobi:split gmres(100)+ilu0/500 gmres(100)+ilut gmres(100)+ilut! "
          "gmres(100)+jacobi:split gmres(100)+equilibration:split gmres(100):split");
    split.source = preconditioner_source::given; // the caller's own is the caller's to split
    CHECK(planned(facts(false, -3, 5), split) == "bicgstab:split gmres(100):split");
}

TEST_CASE("method plan: what the matrix in host memory adds") {
    plan_setting with{.rows = 100, .source = preconditioner_source::matrix};
    CHECK(planned(facts(true, 1, 10), with)
              .starts_with(
                  "cg+jacobi/1000 cg+amg/500 cg+amg!/500 cg+fsai cg+jacobi bicgstab+jacobi"));
    CHECK(planned(facts(true, 4, 4), with)
              .starts_with("cg/1000 cg+amg/500 cg+amg!/500 cg+fsai cg bicgstab"));
    with.rows = 1'000'000;
    CHECK(planned(facts(true, 1, 10), with)
              .starts_with("cg+amg/500 cg+amg!/500 cg+fsai cg+jacobi bicgstab+jacobi"));
    CHECK(
        planned(facts(true, 4, 4), with).starts_with("cg+amg/500 cg+amg!/500 cg+fsai cg bicgstab"));
    CHECK(planned(facts(false, 1, 10), with).find("amg") == std::string::npos);
    plan_setting small{.rows = 100, .source = preconditioner_source::matrix};
    CHECK(planned(facts(false, 1, 10), small) ==
          "bicgstab+jacobi gmres(100)+ilu0/500 gmres(100)+ilut gmres(100)+ilut! gmres(100)+jacobi "
          "gmres(100)+equilibration:split gmres(100)");
    CHECK(planned(facts(false, 1, 10, 1), small) ==
          "bicgstab gmres(100)+ilut gmres(100)+ilut! gmres(100)+equilibration:split gmres(100)");
    small.nonzeros = most_strong_nonzeros + 1;
    CHECK(planned(facts(false, 1, 10), small).find('!') == std::string::npos);
    with.source = preconditioner_source::table; // no matrix in host memory
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+jacobi bicgstab+jacobi"));
}

TEST_CASE(
    "method plan: multigrid first for large systems, unless the diagonal is large or a row is") {
    plan_setting with{.rows = 1'000'000, .source = preconditioner_source::matrix};
    with.sample = {.rows = 256, .dominant = 256, .largest_sum = 0.5, .off_diagonal = 9};
    CHECK(planned(facts(true, 1, 10), with)
              .starts_with("cg+jacobi/1000 cg+amg/500 cg+amg!/500 cg+fsai"));
    CHECK(planned(facts(false, 1, 10), with).starts_with("bicgstab+jacobi/500"));
    with.sample.largest_sum = 1;
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+amg/500"));
    with.longest_row = 99'999;
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+amg/500"));
    with.longest_row = 100'000; // a hub
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+jacobi/250 cg+amg/500"));
    with.near_null = true;
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+amg/500"));
}

TEST_CASE("method plan: near-null vectors make multigrid the first for smaller systems") {
    plan_setting with{.rows = 100'000, .source = preconditioner_source::matrix};
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+jacobi/1000"));
    with.nodes = true;
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+jacobi/1000"));
    with.near_null = true;
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+amg/500 cg+fsai cg+jacobi"));
    with.rows = 99'999;
    CHECK(planned(facts(true, 1, 10), with).starts_with("cg+jacobi/1000"));
}

TEST_CASE("method plan: convection with diffusion has multigrid, early where it is large") {
    plan_setting with{.rows = 100, .source = preconditioner_source::matrix};
    with.sample = {.rows = 100, .dominant = 95, .largest_sum = 1, .off_diagonal = 9};
    CHECK(planned(facts(false, 1, 10), with)
              .starts_with("bicgstab+jacobi/500 gmres(100)+amg/500 gmres(100)+ilu0/500 "
                           "gmres(100)+ilut gmres(100)+ilut! bicgstab+jacobi "
                           "gmres(100)+jacobi"));
    with.rows = 1'000'000;
    CHECK(planned(facts(false, 4, 4), with)
              .starts_with("gmres(30)+amg/500 bicgstab gmres(30)+ilu0/500 gmres(30)+ilut "
                           "gmres(30)+ilut!"));
    const auto without = [&](const char* why, auto change) {
        CAPTURE(why);
        plan_setting other = with;
        operator_facts f = facts(false, 1, 10);
        change(other, f);
        CHECK(planned(f, other).find("gmres(30)+amg") == std::string::npos);
    };
    without("not in host memory", [](auto& s, auto&) { s.source = preconditioner_source::table; });
    without("a given M", [](auto& s, auto&) { s.source = preconditioner_source::given; });
    without("symmetric", [](auto&, auto& f) { f.symmetric = true; });
    without("an entry that isn't positive", [](auto&, auto& f) { f = facts(false, -1, 10); });
    without("several unknowns a node", [](auto& s, auto&) { s.nodes = true; });
    without("not dominant", [](auto& s, auto&) { s.sample.dominant = 80; });
    without("positive entries", [](auto& s, auto&) { s.sample.positive = 2; });
}

TEST_CASE(
    "method plan: a preconditioner that varies, or is not symmetric, has solvers that take it") {
    plan_setting given{.rows = 100, .source = preconditioner_source::given};
    given.varies = true;
    CHECK(planned(facts(true, 1, 10), given) == "fcg fgmres(100)");
    CHECK(planned(facts(false, 1, 10), given) == "fgmres(100)");
    given.symmetric = false;
    CHECK(planned(facts(true, 1, 10), given) == "fgmres(100)");
    given.varies = false;
    CHECK(planned(facts(true, 1, 10), given) == "bicgstab gmres(100)");
}

TEST_CASE("method plan: least squares are the last where A' can be had, and M is not given") {
    plan_setting with{.rows = 100, .transposed = true};
    CHECK(planned(facts(false, 4, 4), with) == "bicgstab gmres(100) lsqr");
    CHECK(planned(facts(true, 1, 10), with).ends_with("gmres(100)+jacobi gmres(100) lsqr"));
    with.source = preconditioner_source::given;
    CHECK(planned(facts(false, 4, 4), with) == "bicgstab gmres(100)");
}

// Every row that is listed is of use somewhere, whatever it is called.
TEST_CASE("method plan: all listed solvers are planned for a matrix that may suit them") {
    const auto methods = plan_methods(facts(true, 1, 10), {.rows = 100});
    for (const solver_method* row : all_solvers) {
        CAPTURE(std::string(row->name));
        const bool found =
            std::ranges::any_of(methods, [&](const planned_method& m) { return m.solver == row; });
        CHECK(found == row->listed);
    }
}

TEST_CASE("method plan: a long basis is bounded by bytes, by rows and by 1000") {
    CHECK(long_restart({.rows = 0}) == 1);
    CHECK(long_restart({.rows = 12}) == 12);
    CHECK(long_restart({.rows = 10'000}) == 1000);
    CHECK(long_restart({.rows = 100'000}) == 167);
    CHECK(long_restart({.rows = 100'000, .value_bytes = 4}) == 335);
    CHECK(long_restart({.rows = 1'000'000'000}) == 30);
    CHECK(long_restart({.rows = 1'000'000'000, .least_restart = 50}) == 50);
}

TEST_CASE("method plan: the facts in words") {
    CHECK(in_words(facts(true, 1, 1e6)) == "symmetric, positive diagonal varies by 1e6");
    CHECK(in_words(facts(true, 2, 2)) == "symmetric, positive diagonal constant");
    CHECK(in_words(facts(false, -1, 2)) == "not symmetric, diagonal of both signs");
    CHECK(in_words(facts(false, 1, 2, 3)) == "not symmetric, 3 of 100 diagonal entries are 0");
    operator_facts unknown = facts(true, 1, 1);
    unknown.diagonal.reset();
    CHECK(in_words(unknown) == "symmetric, diagonal unknown");
}

} // namespace krylith
