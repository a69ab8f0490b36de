// krylith bench: the table of benchmarks, and that solvers and products run by it.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/solvers/solver_table.hpp>

#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::all_solvers;
using krylith::backend;
using krylith::solver_method;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::has_benchmarks;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

/// Enough iterations that those of the long run take longer than the short one, also where other
/// programs run.
const std::string few_iterations =
    " --backend host --no-limits --repetitions 3 --seconds 0 --warm-up-seconds 0 "
    "--warm-up 4 --iterations 50";

} // namespace

TEST_CASE("bench times solvers and products over device counts") {
    if (!has_benchmarks()) return;
    const temporary_folder folder;
    const std::string common =
        " gallery:poisson2d:30 gallery:poisson2d:20 --device-counts 1,2 --report -" +
        few_iterations;
    for (const std::string name : {"cg --against krylith", "spmv --operator halo"}) {
        CAPTURE(name);
        const auto result = run_krylith(folder, "bench " + name + common);
        REQUIRE_MESSAGE(result.status == 0, result.err);
        const json report = json::parse(result.out);
        // On two devices one row for each matrix, on one device one for each format.
        const std::size_t formats =
            name.starts_with("cg") ? 1 : krylith::testing::formats_of(backend::host).size();
        REQUIRE(report.at("rows").size() == 2 * (formats + 1));
        for (const json& row : report["rows"]) {
            const json& us = row.at(name.starts_with("cg") ? "us_per_iteration" : "us");
            CHECK(us.at("median").get<double>() > 0);
            CHECK(us.at("p10") <= us.at("p90"));
        }
        CHECK(contains(result.err, name.starts_with("cg") ? "speed-up" : "speedup"));
    }
}

TEST_CASE("bench: every solver runs, in both precisions and with a preconditioner") {
    if (!has_benchmarks()) return;
    const temporary_folder folder;
    for (const solver_method* row : all_solvers) {
        if (!row->runs_everywhere) continue;
        const std::string solver(row->name);
        for (const std::string more : {" --precision fp32", " --precond jacobi", " --solves 1"}) {
            if (row->least_squares && more.starts_with(" --precond")) continue;
            const std::string command = "bench " + solver +
                                        " gallery:poisson2d:64 --device-counts 1 --report r.json" +
                                        few_iterations + more;
            const auto result = run_krylith(folder, command);
            REQUIRE_MESSAGE(result.status == 0, (command + ": " + result.out + result.err));
            const json report = json::parse(contents_of(folder.file("r.json")));
            CHECK(report.at("benchmark") == solver);
            const bool against = solver.starts_with("cg") && more == " --solves 1";
            REQUIRE(report.at("rows").size() == (against ? 2 : 1));
            CHECK(report["rows"][0].at("same_bits") == true);
            if (against) CHECK(report["rows"][1].at("solver") == "eigen");
        }
    }
}

TEST_CASE("bench: products in fp32, reordered, of a matrix made spd, as a table too") {
    if (!has_benchmarks()) return;
    const temporary_folder folder;
    const auto result =
        run_krylith(folder, "bench spmv gallery:rmat:7 --spd --precision fp32 --reorder rcm "
                            "--operator halo,auto --device-counts 1,2 --csv t.csv" +
                                few_iterations);
    REQUIRE_MESSAGE(result.status == 0, (result.out + result.err));
    const std::string table = contents_of(folder.file("t.csv"));
    // A header, each format on one device, two operators on two.
    CHECK(std::count(table.begin(), table.end(), '\n') ==
          3 + static_cast<std::ptrdiff_t>(krylith::testing::formats_of(backend::host).size()));
}

TEST_CASE("bench: several right-hand sides at once and one after another") {
    if (!has_benchmarks()) return;
    const temporary_folder folder;
    const auto result =
        run_krylith(folder, "bench right-hand-sides gallery:poisson2d:20:random=1 --count 3,8 "
                            "--backend host --device-counts 1,2 --repetitions 2 --report -");
    REQUIRE_MESSAGE(result.status == 0, (result.out + result.err));
    const json report = json::parse(result.out);
    REQUIRE(report.at("rows").size() == 4);
    for (const json& row : report["rows"]) {
        CHECK(row.at("columns_a_loop") == (row.at("columns") == 3 ? 4 : 8));
        for (const char* const way : {"at_once", "one_by_one"}) {
            CHECK(row.at(way).at("ms").at("median").get<double>() > 0);
            CHECK(row.at(way).at("ms_call").at("p10") >= row.at(way).at("ms").at("p10"));
            CHECK(row.at(way).at("relative_residual").get<double>() <= 1.01e-8);
        }
        // The iterates are those of one system alone, up to rounding.
        CHECK(std::abs(row["at_once"].at("iterations").get<int>() -
                       row["one_by_one"].at("iterations").get<int>()) <= 1);
    }
    const auto refused = run_krylith(folder, "bench right-hand-sides gallery:poisson2d:9 "
                                             "--backend host --precond ic0 --repetitions 1");
    CHECK(refused.status == 1);
    CHECK(contains(refused.out, "void: not solved at once: preconditioner ic0"));
}

TEST_CASE("bench: sparse kernels by several numbers of threads, those without a core left out") {
    if (!has_benchmarks()) return;
    const temporary_folder folder;
    const std::string of =
        "bench sparse gallery:poisson3d:6 --repeats 1 --kernels transpose,spgemm ";
    const auto result =
        run_krylith(folder, of + "--backend host --thread-counts 60000,1,1 --report -");
    REQUIRE_MESSAGE(result.status == 0, (result.out + result.err));
    CHECK(contains(result.err, "60000 threads"));
    const json report = json::parse(result.out);
    CHECK(report.at("rows").size() == 10);
    for (const json& row : report["rows"]) {
        CHECK(row.at("threads") == 1);
        CHECK(row.at("scaling") == 1.0);
        const auto variant = row.at("variant").get<std::string>();
        CHECK(row.contains("set_up_ms") ==
              (variant == "new values" || contains(variant, ", values")));
    }
    for (const std::string wrong :
         {"--thread-counts 0", "--thread-counts 60000", "--thread-counts 1 --threads 1"})
        CHECK(run_krylith(folder, of + "--backend host " + wrong).status == 2);
}

TEST_CASE("bench: a krylith without krylith-bench beside it says what is missing") {
    const temporary_folder folder;
    const auto lone =
        run_krylith(folder, "--version && cp '" + std::string(krylith::test::command_path()) +
                                "' krylith && ./krylith bench cg gallery:poisson2d:4");
    CHECK(lone.status == 2);
    CHECK(contains(lone.err, "krylith-bench, which runs the benchmarks, is not beside"));
}

TEST_CASE("bench: help lists the benchmarks, each has its own, and wrong ones are refused") {
    if (!has_benchmarks()) return;
    const temporary_folder folder;
    const std::string help = run_krylith(folder, "bench --help").out;
    for (const std::string name :
         {"cg:launched", "gmres", "calls", "spmv", "sparse", "spmspv", "streamed", "graph",
          "imbalance", "read", "watch", "right-hand-sides", "break_even"}) {
        CHECK_MESSAGE(contains(help, "\n  " + name), name);
        const auto own = run_krylith(folder, "bench " + name + " --help");
        CHECK(own.status == 0);
        CHECK_MESSAGE(contains(own.out, "krylith bench " + name), own.out);
    }
    CHECK(run_krylith(folder, "bench").status == 2);
    CHECK(contains(run_krylith(folder, "bench grahp").err, "did you mean 'graph'?"));
    CHECK(
        contains(run_krylith(folder, "bench spmv m --device 2").err, "krylith bench spmv --help"));
    CHECK(run_krylith(folder, "bench spmv absent.mtx --device-counts 1" + few_iterations).status ==
          3);
    CHECK(run_krylith(folder, "bench gmres gallery:poisson2d:8 --against baseline").status == 2);
    CHECK(contains(run_krylith(folder, "bench break_even").out, "| nonzeros a row |"));
}
