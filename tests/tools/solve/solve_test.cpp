// krylith solve, as scripts use it.
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/matrix_market.hpp>
#include <krylith/partition/ordering/metis_order.hpp>
#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/solve_report_of.hpp>
#include <krylith/tools/solve/solve_report.hpp>

using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::has_benchmarks;
using krylith::test::report_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

TEST_CASE("the report says all that the documentation promises") {
    const temporary_folder folder;
    const json report =
        report_of(folder, "gallery:poisson3d:8 --devices 2 --solver cg --precond jacobi");
    const json matrix = {
        {"name", "gallery:poisson3d:8"}, {"rows", 512}, {"columns", 512}, {"nnz", 3200}};
    CHECK(report.at("matrix") == matrix);
    CHECK(report.at("solver") == "cg");
    CHECK(report.at("preconditioner") == "jacobi");
    CHECK((report.at("operator") == "halo" || report.at("operator") == "nz" ||
           report.at("operator") == "allgather"));
    REQUIRE(report.at("operator_predictions").size() >= 3);
    // Fastest first; halo stays where nothing is clearly faster.
    CHECK((report["operator_predictions"][0].at("operator") == report.at("operator") ||
           report.at("operator") == "halo"));
    CHECK(report["operator_predictions"][0].at("seconds_per_iteration") > 0);
    CHECK(report.at("operator_trials").empty());
    CHECK_FALSE(report.at("machine_rates").get<std::string>().empty());
    CHECK(report.at("format") == "csr");
    CHECK(report.at("narrow_fraction") == 0); // csr has each value in full
    CHECK(report.at("backend") == "host");
    CHECK(report.at("devices").size() == 2);
    CHECK(report.at("precision") == "fp64");
    CHECK(report.at("reason") == "converged_rtol");
    CHECK(report.at("converged") == true);
    CHECK(report.at("diagnosis") == "");
    CHECK(report.at("execution") == "recorded");
    if (report.contains("form")) { // of cg
        CHECK(report.at("form").at("kernels") == "launched");
        CHECK(report.at("form").at("because") == "it needs CUDA devices");
    }
    CHECK(report.at("rhs_norm").get<double>() == doctest::Approx(std::sqrt(512.0)));
    CHECK(report.at("true_residual").get<double>() <= 1e-8 * std::sqrt(512.0));
    CHECK(report.at("relative_true_residual").get<double>() <= 1e-8);
    CHECK(report.at("recurrence_residual").get<double>() > 0);
    for (const std::string seconds : {"load_seconds", "setup_seconds", "transfer_seconds",
                                      "solve_seconds", "seconds_per_iteration"})
        CHECK_MESSAGE(report.at(seconds).get<double>() > 0, seconds);
    REQUIRE(report.at("bytes_per_device").size() == 2);
    CHECK(report.at("bytes_per_device")[0].at("matrix").get<std::int64_t>() >= 12 * 1600);
    CHECK(report.at("bytes_per_device")[0].at("total") > report["bytes_per_device"][0]["matrix"]);
    CHECK(report.at("history").size() == report.at("iterations").get<std::size_t>() + 1);
    CHECK(report.at("options").at("rtol") == 1e-8);
    CHECK(report.at("options").at("max_iterations") == 5120);
    CHECK(report.at("version").is_string());
    CHECK(report.at("attempts").empty());
    CHECK(report.at("options").at("solver") == "cg");
}

TEST_CASE("solver auto says what it tried, why, and how long that took") {
    const temporary_folder folder;
    const json even = report_of(folder, "gallery:poisson2d:20");
    CHECK(even.at("solver") == "cg");
    CHECK(even.at("preconditioner") == "none");
    CHECK(even.at("solver_because") == "symmetric, positive diagonal constant");
    CHECK(even.at("options").at("solver") == "auto");
    CHECK(even.at("options").at("preconditioner") == "auto");
    CHECK(even.at("options").at("max_iterations").is_null());
    REQUIRE(even.at("attempts").size() == 1);
    CHECK(even["attempts"][0].at("solver") == "cg");
    CHECK(even["attempts"][0].at("reason") == "converged_rtol");
    CHECK(even["attempts"][0].at("iterations") == even.at("iterations"));
    CHECK(even["attempts"][0].at("seconds").get<double>() > 0);
    CHECK(even["attempts"][0].at("side").is_null());
    const json uneven = report_of(folder, "gallery:poisson2d:20:random=1 --devices 3");
    CHECK(uneven.at("preconditioner") == "jacobi");
    const json flow = report_of(folder, "gallery:convection_diffusion:7:20:random=1");
    CHECK(flow.at("solver") == "bicgstab");
    CHECK(flow["attempts"][0].at("side") == "right");
    CHECK(report_of(folder, "gallery:poisson2d:20:random=1 --precond none").at("preconditioner") ==
          "none");
    folder.write("rotation.mtx",
                 "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n");
    const auto turned = run_krylith(folder, "solve rotation.mtx --backend host");
    CHECK(turned.status == 0);
    CHECK(contains(turned.out, "tried: bicgstab without preconditioner (not symmetric, 2 of 2 "
                               "diagonal entries are 0): the method broke down after 0"));
    CHECK(contains(turned.out, "auto: gmres(2) with ilut:drop=0.001:fill=5 (ilut takes"));
}

TEST_CASE("cg on a matrix that is not symmetric is warned of, even where it converges") {
    const temporary_folder folder;
    folder.write("nearly.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n"
                               "1 1 4\n1 2 1\n2 1 1.001\n2 2 3\n");
    const json nearly = report_of(folder, "nearly.mtx --solver cg --rtol 1e-3");
    CHECK(nearly.at("converged") == true);
    CHECK(contains(nearly.at("warnings").dump(), "not symmetric: entry (1, 2) is 1, its mirror"));
    CHECK(contains(nearly.at("warnings").dump(), "cg needs symmetry"));
    CHECK(report_of(folder, "nearly.mtx --solver gmres").at("warnings").empty());
    CHECK(report_of(folder, "gallery:poisson2d:9 --solver cg").at("warnings").empty());
}

TEST_CASE("a file whose duplicates were summed is solved with a warning, a tidy one without") {
    const temporary_folder folder;
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    const auto warnings = [&](const std::string& entries) {
        return report_of(folder, folder.write("m.mtx", banner + entries).string() + " --devices 1")
            .at("warnings")
            .dump();
    };
    CHECK(contains(warnings("2 2 3\n1 1 1\n2 2 1\n1 1 3\n"), "1 duplicate was added"));
    CHECK_FALSE(contains(warnings("2 2 2\n1 1 4\n2 2 1\n"), "duplicate"));
}

TEST_CASE("operator adaptive tells which kernels ran") {
    const temporary_folder folder;
    const json report = report_of(folder, "gallery:poisson2d:30 --devices 2 --operator adaptive");
    CHECK(report.at("operator") == "adaptive");
    CHECK(report.at("execution") == "eager");
    CHECK(contains(report.at("execution_because").get<std::string>(), "adaptive"));
    std::int64_t products = 0;
    for (const auto& [kernel, times] : report.at("kernel_products").items())
        products += times.get<std::int64_t>();
    CHECK(products >= 2 * report.at("iterations").get<std::int64_t>());
    const json halo = report_of(folder, "gallery:poisson2d:30 --devices 2 --operator halo");
    CHECK(halo.at("kernel_products").empty());
}

TEST_CASE("the same iterations on any number of devices, operator and way of execution") {
    const temporary_folder folder;
    const auto iterations = [&](const std::string& options) {
        return report_of(folder, "gallery:poisson2d:20:random=3 --rhs random:1 " + options)
            .at("iterations")
            .get<int>();
    };
    const int expected = iterations("");
    CHECK(expected > 10);
    for (const std::string options :
         {"--devices 2", "--devices 3", "--devices 0,1,2", "--devices 2 --operator nz",
          "--devices 3 --operator halo", "--devices 3 --operator allgather",
          "--devices 2 --operator auto:measured", "--devices 2 --operator lra:measured",
          "--devices auto", "--devices 2 --execution eager", "--devices 2 --transport staged",
          "--threads 1"})
        CHECK_MESSAGE(iterations(options) == expected, options);
}

TEST_CASE("gmres and bicgstab solve what cg can't, with any side of the preconditioner") {
    const temporary_folder folder;
    for (const std::string solver : {"gmres", "gmres:cgs2", "bicgstab"})
        for (const std::string side : {"left", "right", "split"})
            for (const std::string devices : {"1", "3"}) {
                const json report = report_of(
                    folder,
                    "gallery:convection_diffusion:7:20:random=1 --precond jacobi --solver " +
                        solver + " --side " + side + " --devices " + devices);
                CHECK(report.at("solver") == solver);
                CHECK(report.at("converged") == true);
                CHECK(report.at("relative_true_residual").get<double>() <= 1e-8);
                CHECK(report.at("options").at("side") == side);
            }
}

TEST_CASE("--reorder tells what it cost and brought, and the solution stays where it was") {
    const temporary_folder folder;
    const std::string matrix = "gallery:random_spd:3000:5:1 ";
    const json plain = report_of(folder, matrix + "--rhs row-sums --devices 3");
    CHECK(plain.at("reordering").is_null());
    const json moved = report_of(folder, matrix + "--rhs row-sums --devices 3 --reorder rcm");
    const json& told = moved.at("reordering");
    CHECK(told.at("order") == "rcm");
    CHECK(told.at("seconds").get<double>() > 0);
    CHECK(told.at("bandwidth_after").get<int>() < told.at("bandwidth_before").get<int>());
    CHECK(told.at("ghosts_after").get<int>() < told.at("ghosts_before").get<int>());
    CHECK(moved.at("options").at("reorder") == "rcm");
    CHECK(moved.at("solution_error").get<double>() < 1e-6);
    if (!krylith::metis_available()) return;
    const json cut = report_of(folder, matrix + "--rhs row-sums --devices 3 --reorder metis");
    CHECK(cut.at("reordering").at("order") == "metis");
    CHECK(cut.at("reordering").at("ghosts_after").get<int>() < told.at("ghosts_before").get<int>());
    CHECK(cut.at("solution_error").get<double>() < 1e-6);
}

TEST_CASE("lra-rc:measured tells what the rule of thumb loses, and --long-share stays") {
    const temporary_folder folder;
    const json report = report_of(folder, "gallery:poisson2d:21:random=5 --devices 3 --operator "
                                          "lra-rc:measured --long-fraction 0.4");
    CHECK(report.at("operator") == "lra-rc");
    CHECK(report.at("options").at("operator") == "lra-rc:measured");
    CHECK(contains(report.at("operator_because").get<std::string>(), "long_fraction 0.4"));
    const json& fractions = report.at("operator_fractions");
    CHECK(fractions.at("best").at("long_fraction") == 0.4);
    CHECK(fractions.at("rule_loss").get<double>() >= 1);
    for (const json& trial : fractions.at("trials")) CHECK(trial.at("long_fraction") == 0.4);
    CHECK(report_of(folder, "gallery:poisson2d:9 --devices 2 --operator lra")
              .at("operator_fractions")
              .is_null());
}

TEST_CASE("row-sums make a system whose solution is ones") {
    const temporary_folder folder;
    const json report = report_of(folder, "gallery:poisson2d:9 --rhs row-sums --solution x.mtx");
    CHECK(report.at("solution_error").get<double>() < 1e-7);
    const auto x = krylith::read_vector_market<double>(folder.file("x.mtx"));
    REQUIRE(x.size() == 81);
    for (const double value : x) CHECK(value == doctest::Approx(1));
    CHECK(report_of(folder, "gallery:poisson2d:9").at("solution_error").is_null());
}

TEST_CASE("a solution is a good start") {
    const temporary_folder folder;
    const json first = report_of(folder, "gallery:poisson2d:9 --rhs random:7 --solution x.mtx");
    CHECK(first.at("iterations") > 5);
    const json second = report_of(folder, "gallery:poisson2d:9 --rhs random:7 --x0 x.mtx");
    CHECK(second.at("iterations") == 0);
    CHECK(second.at("converged") == true);
}

TEST_CASE("fp32 reaches what fp32 can") {
    const temporary_folder folder;
    const json report = report_of(folder, "gallery:poisson2d:9 --precision fp32 --rtol 1e-4");
    CHECK(report.at("precision") == "fp32");
    CHECK(report.at("converged") == true);
}

TEST_CASE("rtol is by the precision unless it is given, and the report has what was used") {
    const temporary_folder folder;
    const json single = report_of(folder, "gallery:poisson2d:20 --precision fp32");
    CHECK(single.at("converged") == true);
    CHECK(single.at("options").at("rtol") == 1e-5);
    CHECK(report_of(folder, "gallery:poisson2d:20").at("options").at("rtol") == 1e-8);
    CHECK(report_of(folder, "gallery:poisson2d:20 --rtol 1e-3").at("options").at("rtol") == 1e-3);
}

TEST_CASE("the summary goes to standard output unless the report does") {
    const temporary_folder folder;
    const std::string solve = "solve gallery:poisson2d:9 --backend host ";
    const auto plain = run_krylith(folder, solve);
    CHECK(contains(plain.out, "converged"));
    CHECK(plain.err.empty());
    const auto reported = run_krylith(folder, solve + "--report -");
    CHECK(json::accept(reported.out));
    CHECK(contains(reported.err, "converged"));
    const auto quiet = run_krylith(folder, solve + "--quiet");
    CHECK(quiet.out.empty());
    CHECK(quiet.err.empty());
}

TEST_CASE("small systems are exact answers") {
    const temporary_folder folder;
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    folder.write("none.mtx", banner + "0 0 0\n");
    folder.write("one.mtx", banner + "1 1 1\n1 1 4\n");
    for (const std::string devices : {"1", "3"}) {
        CHECK(report_of(folder, "none.mtx --devices " + devices).at("converged"));
        const json one = report_of(folder, "one.mtx --devices " + devices);
        CHECK(one.at("converged") == true);
        CHECK(one.at("true_residual") == 0);
    }
}

TEST_CASE("history is a table with a line an iteration") {
    const temporary_folder folder;
    const json report = report_of(folder, "gallery:poisson2d:9 --history h.csv");
    std::istringstream lines(contents_of(folder.file("h.csv")));
    std::string line;
    std::getline(lines, line);
    CHECK(line == "iteration,residual,relative_residual");
    int count = 0;
    for (; std::getline(lines, line); ++count) {
        int iteration = -1;
        double residual = -1;
        double relative = -1;
        char comma = 0;
        std::istringstream(line) >> iteration >> comma >> residual >> comma >> relative;
        CHECK(iteration == count);
        CHECK(residual == doctest::Approx(9 * relative).epsilon(1e-6)); // ||b|| = 9
        CHECK(residual ==
              doctest::Approx(report["history"][static_cast<std::size_t>(count)].get<double>())
                  .epsilon(1e-6));
    }
    CHECK(count == report.at("iterations").get<int>() + 1);
}

TEST_CASE("a report stays valid JSON whatever the numbers") {
    krylith::tool::solve_outcome outcome;
    outcome.result.true_residual = std::numeric_limits<double>::quiet_NaN();
    outcome.result.rhs_norm = std::numeric_limits<double>::infinity();
    outcome.result.history = {1, std::numeric_limits<double>::quiet_NaN()};
    krylith::tool::solve_request request;
    request.matrix = "not \"UTF-8\": \xff";
    const json report =
        json::parse(krylith::tool::json_fields(request, outcome)
                        .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    CHECK(report.at("true_residual").is_null());
    CHECK(report.at("rhs_norm").is_null());
    CHECK(report.at("history")[1].is_null());
    CHECK(report.at("history")[0] == 1);
}

TEST_CASE("--spd lets cg run on any matrix, and says so") {
    const temporary_folder folder;
    for (const std::string matrix : {"gallery:rmat:8", "gallery:convection_diffusion:6:100"}) {
        CAPTURE(matrix);
        const json report = report_of(folder, matrix + " --spd --precond jacobi");
        CHECK(report.at("reason") == "converged_rtol");
        CHECK(report.at("options").at("spd") == true);
    }
    CHECK(report_of(folder, "gallery:poisson2d:9").at("options").at("spd") == false);
    const auto text = run_krylith(folder, "solve gallery:rmat:8 --spd --precond jacobi");
    CHECK(contains(text.out, "gallery:rmat:8 made spd: 256 rows"));
    const auto spmv =
        run_krylith(folder, "spmv gallery:web:500 --spd --repeat 1 --report - --quiet");
    CHECK(json::parse(spmv.out).at("spd") == true);
    if (has_benchmarks()) {
        const auto bench = run_krylith(
            folder, "bench cg gallery:rmat:8 --spd --precond jacobi --backend host "
                    "--device-counts 1 --no-limits --repetitions 1 --seconds 0 --warm-up-seconds 0 "
                    "--warm-up 1 --iterations 2 --report -");
        CHECK_MESSAGE(bench.status == 0, bench.err);
        const json report = json::parse(bench.out);
        CHECK(report.at("options").at("spd") == true);
        CHECK(report.at("rows")[0].at("converged") == true);
        CHECK(report.at("rows")[0].at("rtol") == 1e-8);
    }
    // Without a square matrix there is nothing to mirror.
    folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 1\n");
    CHECK(run_krylith(folder, "solve wide.mtx --spd").status == 3);
}
