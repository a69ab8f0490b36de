// krylith graph: files, reports and refusals, on a small graph that can be followed by hand.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::contains;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

/// 1 -> 2 (1), 1 -> 3 (5), 2 -> 3 (2), 3 -> 4 (1), 5 -> 1 (1); nobody leads to 5.
constexpr const char* diamond = "%%MatrixMarket matrix coordinate real general\n5 5 5\n"
                                "1 2 1\n1 3 5\n2 3 2\n3 4 1\n5 1 1\n";

std::vector<double> written(const temporary_folder& folder, const char* name) {
    return krylith::read_vector_market<double>(folder.file(name));
}

} // namespace

TEST_CASE("graph: levels, parents and distances, by kernels and devices of all sorts") {
    const temporary_folder folder;
    folder.write("a.mtx", diamond);
    for (const char* options :
         {"", "--devices 3", "--kernel spmv", "--kernel row-balanced --precision fp32",
          "--kernel column-sort --transport staged --devices 2"}) {
        CAPTURE(options);
        const std::string common =
            std::string(" --backend host --output out.mtx --report - --quiet ") + options;
        const auto bfs = run_krylith(folder, "graph bfs a.mtx --parents from.mtx" + common);
        REQUIRE_MESSAGE(bfs.status == 0, bfs.err);
        CHECK(written(folder, "out.mtx") == std::vector<double>{0, 1, 1, 2, -1});
        CHECK(written(folder, "from.mtx") == std::vector<double>{-1, 1, 1, 3, -1});
        const json report = json::parse(bfs.out);
        CHECK(report.at("algorithm") == "bfs");
        CHECK(report.at("sources") == std::vector<int>{1});
        CHECK(report.at("reached") == 4);
        CHECK(report.at("depth") == 2);
        CHECK(report.at("frontier_nonzeros") == 4);
        CHECK(report.at("iterations") == 3);
        CHECK(report.at("reason") == "nothing_left");
        CHECK(report.at("steps").size() == 3);
        CHECK(report.at("steps")[1].at("entries") == 2);
        CHECK(report.at("steps")[1].at("frontier_nonzeros") == 2);

        const auto sssp = run_krylith(folder, "graph sssp a.mtx --source 5" + common);
        REQUIRE_MESSAGE(sssp.status == 0, sssp.err);
        CHECK(written(folder, "out.mtx") == std::vector<double>{1, 2, 4, 5, 0});
        CHECK(json::parse(sssp.out).at("farthest") == 5);
        CHECK(json::parse(sssp.out).at("sources") == std::vector<int>{5});
    }
}

TEST_CASE("graph: ranks sum to 1, and the report has the bound") {
    const temporary_folder folder;
    folder.write("a.mtx", diamond);
    const auto all = run_krylith(
        folder, "graph pagerank a.mtx --backend host --tolerance 1e-9 --output out.mtx --report - "
                "--quiet");
    REQUIRE_MESSAGE(all.status == 0, all.err);
    double sum = 0;
    for (const double rank : written(folder, "out.mtx")) sum += rank;
    CHECK(sum == doctest::Approx(1).epsilon(1e-14));
    const json report = json::parse(all.out);
    CHECK(report.at("reason") == "converged");
    CHECK(report.at("error_bound").get<double>() <= 1e-9);
    CHECK(report.at("highest")[0].at("vertex") == 4);
    CHECK(report.at("sources").empty());

    const auto personal = run_krylith(
        folder, "graph pagerank a.mtx --backend host --source 3,4 --output out.mtx --quiet");
    CHECK(personal.status == 0);
    CHECK(written(folder, "out.mtx")[0] == 0);
    CHECK(written(folder, "out.mtx")[3] > written(folder, "out.mtx")[2]);
}

TEST_CASE("graph: components and triangles, of edges whichever way they go") {
    const temporary_folder folder;
    // A triangle 1, 2, 3 with 4 behind it, 5 and 6 connected, 7 with a loop.
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n7 7 6\n"
                          "1 2 1\n3 1 5\n2 3 -2\n4 3 1\n6 5 1\n7 7 1\n");
    for (const char* options : {"", "--devices 3", "--precision fp32 --devices 2"}) {
        CAPTURE(options);
        const std::string common =
            std::string(" a.mtx --backend host --output out.mtx --report - --quiet ") + options;
        const auto components = run_krylith(folder, "graph components" + common);
        REQUIRE_MESSAGE(components.status == 0, components.err);
        CHECK(written(folder, "out.mtx") == std::vector<double>{1, 1, 1, 1, 2, 2, 3});
        const json report = json::parse(components.out);
        CHECK(report.at("components") == 3);
        CHECK(report.at("sizes")[0] == json{{"vertices", 4}, {"components", 1}});
        CHECK(report.at("sizes")[2] == json{{"vertices", 1}, {"components", 1}});
        CHECK(report.at("kernel").is_null());
        CHECK(report.at("reason") == "nothing_left");
        const auto triangles = run_krylith(folder, "graph triangles" + common);
        REQUIRE_MESSAGE(triangles.status == 0, triangles.err);
        CHECK(written(folder, "out.mtx") == std::vector<double>{1, 1, 1, 0, 0, 0, 0});
        CHECK(json::parse(triangles.out).at("triangles") == 1);
    }
    const auto said = run_krylith(folder, "graph components a.mtx --backend host").out;
    CHECK_MESSAGE(contains(said, "outcome     3 connected components\nvertices    4, 2, 1\n"),
                  said);
    CHECK(
        contains(run_krylith(folder, "graph triangles a.mtx --backend host").out, " 1 triangle\n"));
    folder.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    CHECK(contains(run_krylith(folder, "graph components none.mtx --backend host").out,
                   "0 connected components"));
    CHECK(contains(run_krylith(folder, "graph triangles none.mtx --backend host").out,
                   "0 triangles"));
}

TEST_CASE("graph: the summary is for people, and steps that run out end with 1") {
    const temporary_folder folder;
    const auto bfs =
        run_krylith(folder, "graph bfs gallery:road:5 --backend host --devices 2 --source 3");
    CHECK(bfs.status == 0);
    for (const char* part : {"bfs, from vertex 3, fp64, kernels by the model", "vertices reached",
                             "on level", "GTEPS", "steps       1"})
        CHECK_MESSAGE(contains(bfs.out, part), bfs.out);
    const auto pagerank =
        run_krylith(folder, "graph pagerank gallery:web:100 --backend host --kernel spmv");
    CHECK(pagerank.status == 0);
    for (const char* part : {"converged: errors sum to", "highest", "kernel spmv (as asked for)"})
        CHECK_MESSAGE(contains(pagerank.out, part), pagerank.out);
    for (const char* arguments :
         {"graph bfs gallery:road:5 --max-steps 2", "graph sssp gallery:road:5 --max-steps 2",
          "graph pagerank gallery:web:100 --max-steps 2"}) {
        const auto cut = run_krylith(folder, std::string(arguments) + " --backend host");
        CHECK(cut.status == 1);
        CHECK_MESSAGE(contains(cut.out, "steps ran out"), cut.out);
    }
}

TEST_CASE("graph: levels walked in one launch are told from products") {
    const temporary_folder folder;
    const std::string common = "graph bfs gallery:poisson2d:40 --backend host --devices 1 ";
    const auto launched = run_krylith(folder, common + "--report walked.json");
    REQUIRE_MESSAGE(launched.status == 0, launched.err);
    CHECK_MESSAGE(contains(launched.out, "1-79 levels in one launch"), launched.out);
    const json report = json::parse(std::ifstream(folder.file("walked.json")));
    CHECK(report.at("level_limit").is_null());
    CHECK(report.at("steps").size() == 79);
    for (const json& step : report.at("steps")) {
        CHECK(step.at("launch") == 1);
        CHECK(step.at("kernels").empty());
    }
    const auto products = run_krylith(folder, common + "--report - --quiet --level-limit 0");
    REQUIRE_MESSAGE(products.status == 0, products.err);
    const json without = json::parse(products.out);
    CHECK(without.at("level_limit") == 0);
    CHECK(without.at("frontier_nonzeros") == report.at("frontier_nonzeros"));
    for (const json& step : without.at("steps")) {
        CHECK(step.at("launch") == 0);
        CHECK(step.at("kernels").size() == 1);
    }
}

TEST_CASE("graph: options of another algorithm are refused") {
    const temporary_folder folder;
    for (const auto& [arguments, message] :
         {std::pair{"bfs gallery:road:5 --damping 0.5", "--damping is for pagerank, not for bfs"},
          std::pair{"sssp gallery:road:5 --tolerance 0.1",
                    "--tolerance is for pagerank, not for sssp"},
          std::pair{"bfs gallery:road:5 --reproducible",
                    "--reproducible is for pagerank, not for bfs"},
          std::pair{"sssp gallery:road:5 --parents p.mtx", "--parents is for bfs, not for sssp"},
          std::pair{"sssp gallery:road:5 --level-limit 3",
                    "--level-limit is for bfs, not for sssp"},
          std::pair{"components gallery:road:5 --source 3", "--source is not for components"},
          std::pair{"triangles gallery:road:5 --kernel row", "--kernel is not for triangles"},
          std::pair{"triangles gallery:road:5 --max-steps 9", "--max-steps is not for triangles"},
          std::pair{"components gallery:road:5 --damping 0.5",
                    "--damping is for pagerank, not for components"},
          std::pair{"bfs gallery:road:5 --level-limit -3",
                    "--level-limit is -3: allowed are 0 and more"}}) {
        const auto refused =
            run_krylith(folder, std::string("graph ") + arguments + " --backend host");
        CHECK(refused.status == 2);
        CHECK_MESSAGE(contains(refused.err, message), refused.err);
    }
}

TEST_CASE("graph: negative weights and matrices that are no graph are bad input") {
    const temporary_folder folder;
    folder.write("negative.mtx",
                 "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n2 3 -4\n");
    folder.write("flat.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    const auto negative = run_krylith(folder, "graph sssp negative.mtx --backend host");
    CHECK(negative.status == 3);
    CHECK_MESSAGE(contains(negative.err, "row 2 and column 3 (from 1) is -4"), negative.err);
    CHECK(run_krylith(folder, "graph bfs negative.mtx --backend host").status == 0);
    for (const char* algorithm : {"bfs", "components", "triangles"})
        CHECK(run_krylith(folder, std::string("graph ") + algorithm + " flat.mtx --backend host")
                  .status == 3);
    CHECK(run_krylith(folder, "graph bfs absent.mtx --backend host").status == 3);
    CHECK(run_krylith(folder, "graph bfs negative.mtx --backend host --output .").status == 3);
}
