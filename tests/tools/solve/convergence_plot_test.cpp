// The picture of a convergence curve.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/well_formed.hpp>
#include <krylith/tools/solve/convergence_plot.hpp>

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

std::size_t count(const std::string& text, char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

} // namespace

TEST_CASE("a curve has axes, labels, a point an iteration and the tolerance") {
    const std::string svg = draw({1, 0.1, 1e-3, 1e-5, 1e-9});
    CHECK(well_formed(svg));
    CHECK(contains(svg, "a &lt; b &amp; \"c\""));
    for (const std::string label : {"iteration", "residual", "tolerance", ">1e0<", ">1e-4<"})
        CHECK_MESSAGE(contains(svg, label), label);
    CHECK(count(points_of(svg), ',') == 5);
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
    CHECK(count(points_of(draw({1, nan, infinity, 0, 1e-3})), ',') == 2);
}

TEST_CASE("long histories are thinned, but keep their end") {
    const std::vector<double> history(100'000, 1.0);
    const std::string points = points_of(draw(history));
    CHECK(count(points, ',') <= 2002);
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
