// The picture of a convergence curve.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/well_formed.hpp>
#include <krylith/tools/report/convergence_plot.hpp>

using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using krylith::test::well_formed;

namespace {

std::string draw(const std::vector<double>& history, double target = 1e-8, double final = 1e-9) {
    return krylith::tool::svg({.title = "a < b & \"c\"",
                               .history = history,
                               .rhs_norm = 1,
                               .target = target,
                               .true_residual = final});
}

std::string points_of(const std::string& svg) {
    const std::string start = "points=\"";
    const std::size_t at = svg.find(start) + start.size();
    return svg.substr(at, svg.find('"', at) - at);
}

std::size_t occurrences(const std::string& text, char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

} // namespace

TEST_CASE("a curve has axes, labels, a point an iteration and the tolerance") {
    const std::string svg = draw({1, 0.1, 1e-3, 1e-5, 1e-9});
    CHECK(well_formed(svg));
    CHECK(contains(svg, "a &lt; b &amp; \"c\""));
    for (const std::string label : {"iteration", "residual", "tolerance", ">1e0<", ">1e-4<"})
        CHECK_MESSAGE(contains(svg, label), label);
    CHECK(occurrences(points_of(svg), ',') == 5);
}

TEST_CASE("odd histories still make a picture") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const auto& history : {std::vector<double>{},
                                {0},
                                {1},
                                {1, nan, infinity, 0, 1e-3},
                                {nan, nan},
                                {1e-300, 1e300}}) {
        for (const double final : {0.0, nan, 1e-9}) {
            const std::string svg = draw(history, 0, final);
            CHECK(well_formed(svg));
            CHECK_FALSE(contains(svg, "nan"));
            CHECK_FALSE(contains(svg, "inf"));
        }
    }
    CHECK(occurrences(points_of(draw({1, nan, infinity, 0, 1e-3})), ',') == 2);
}

TEST_CASE("long histories are thinned, but keep their end") {
    const std::vector<double> history(100'000, 1.0);
    const std::string points = points_of(draw(history));
    CHECK(occurrences(points, ',') <= 2002);
    CHECK(contains(points, "696.0,")); // the right edge of the frame
}

TEST_CASE("the command draws what it solved") {
    const temporary_folder folder;
    const auto result =
        run_krylith(folder, "solve gallery:poisson2d:9 --backend host --plot plot.svg --quiet");
    CHECK(result.status == 0);
    const std::string svg = contents_of(folder.file("plot.svg"));
    CHECK(well_formed(svg));
    CHECK(contains(svg, "cg on gallery:poisson2d:9, 1 device<"));
}

TEST_CASE("several curves have colours, titles in a legend, and a tolerance that they share") {
    const std::vector<double> fast = {1, 1e-5, 1e-9};
    const std::vector<double> slow = {10, 1, 0.1, 0.01};
    const krylith::tool::convergence_curve first{"fast <1>", fast, 1, 1e-8, 1e-9};
    const krylith::tool::convergence_curve second{"slow", slow, 10, 1e-7, 0.01};
    const std::vector both = {first, second};
    const std::string svg = krylith::tool::svg("both", both);
    CHECK(well_formed(svg));
    for (const std::string part :
         {"fast &lt;1&gt;", ">slow<", ">both<", "tolerance", "#1f6fb4", "#e69f00"})
        CHECK_MESSAGE(contains(svg, part), part);
    auto other = second;
    other.target = 1;
    CHECK_FALSE(contains(krylith::tool::svg("", std::vector{first, other}), "tolerance"));
    const std::vector many(20, first);
    const std::string crowded = krylith::tool::svg("many", many);
    CHECK(well_formed(crowded));
    CHECK(contains(crowded, "and 9 more"));
    CHECK(well_formed(krylith::tool::svg("none", {})));
}

TEST_CASE(
    "the command overlays the curves of several matrices, and recommend those of its trials") {
    const temporary_folder folder;
    const auto count_curves = [](const std::string& svg) {
        std::size_t curves = 0;
        for (auto at = svg.find("<polyline"); at != std::string::npos;
             at = svg.find("<polyline", at + 1))
            ++curves;
        return curves;
    };
    const auto solved =
        run_krylith(folder, "solve gallery:poisson2d:9 gallery:poisson2d:20 --backend "
                            "host --plot plot.svg --max-iterations 12");
    CHECK(solved.status == 1); // the worst of both: one needs more iterations
    const std::string svg = contents_of(folder.file("plot.svg"));
    CHECK(well_formed(svg));
    CHECK(count_curves(svg) == 2);
    CHECK(contains(solved.out, "81 rows"));
    CHECK(contains(solved.out, "400 rows"));
    CHECK(run_krylith(folder,
                      "recommend gallery:convection_diffusion:9:10 --seconds 1 --backend host "
                      "--plot r.svg --quiet")
              .status == 0);
    CHECK(well_formed(contents_of(folder.file("r.svg"))));
    CHECK(count_curves(contents_of(folder.file("r.svg"))) > 1);
}

TEST_CASE("several matrices have no one solution or history") {
    const temporary_folder folder;
    for (const std::string option : {"--solution x.mtx", "--history h.csv"}) {
        const auto refused =
            run_krylith(folder, "solve gallery:poisson2d:4 gallery:poisson2d:5 " + option);
        CHECK(refused.status == 2);
        CHECK_MESSAGE(contains(refused.err, "is for one matrix, and 2 are given"), refused.err);
    }
}
