// What krylith solve says while it works, and how it is stopped.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/solve_report_of.hpp>
#include <krylith/tests/tools/support/terminal_run.hpp>
#include <krylith/tools/cli/progress_line.hpp>

namespace {

namespace fs = std::filesystem;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::has_terminals;
using krylith::test::report_of;
using krylith::test::run_krylith;
using krylith::test::small_solve;
using krylith::test::temporary_folder;
using krylith::test::terminal_run;
using krylith::tool::rough_time;
using krylith::tool::solve_forecast;

/// A solve of many seconds, whose trips are short.
std::vector<std::string> long_solve(std::vector<std::string> options) {
    options.insert(options.begin(), {"solve", "gallery:poisson2d:900", "--solver", "cg",
                                     "--backend", "host", "--rtol", "1e-12"});
    return options;
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

TEST_CASE("--monitor prints the residual every N iterations, first and last, before the outcome") {
    const temporary_folder folder;
    const auto result = run_krylith(folder, small_solve + "--monitor 10 --history h.csv");
    CHECK(result.status == 0);
    const std::string history = contents_of(folder.file("h.csv"));
    const auto iterations = lines_of(history) - 2; // a header, and iteration 0
    std::size_t at = result.out.find("operator ");
    REQUIRE(at != std::string::npos);
    at = result.out.find("iteration     residual relative residual\n", at);
    REQUIRE(at != std::string::npos);
    const std::string monitor = result.out.substr(at, result.out.find("solver ", at) - at);
    CHECK(lines_of(monitor) == 2 + (iterations - 1) / 10 + 1);
    CHECK(contains(monitor, "\n        0 2.000000e+01      1.000000e+00\n"));
    CHECK(contains(monitor, "\n       10 "));
    CHECK(contains(monitor, "\n" + std::string(9 - std::to_string(iterations).size(), ' ') +
                                std::to_string(iterations) + " "));

    const auto each = run_krylith(folder, small_solve + "--monitor");
    CHECK(lines_of(each.out) == lines_of(result.out) - lines_of(monitor) + iterations + 2);
}

TEST_CASE("--monitor goes where the summary goes, and nowhere with --quiet") {
    const temporary_folder folder;
    const auto report = run_krylith(folder, small_solve + "--monitor 10 --report -");
    CHECK(report.out.starts_with("{"));
    CHECK(contains(report.err, "relative residual\n        0 "));
    const auto quiet = run_krylith(folder, small_solve + "--quiet --monitor 10");
    CHECK(quiet.out.empty());
    CHECK(quiet.err.empty());
}

TEST_CASE("--max-seconds ends a solve with x and history") {
    const temporary_folder folder;
    const auto result = run_krylith(
        folder,
        "solve gallery:poisson2d:900 --solver cg --backend host --rtol 1e-12 --max-seconds 0.2 "
        "--solution x.mtx --history h.csv --report r.json");
    CHECK(result.status == 1);
    CHECK(contains(result.out, "NOT converged: the time is over, after "));
    const auto report = nlohmann::json::parse(contents_of(folder.file("r.json")));
    CHECK(report.at("reason") == "time_limit");
    CHECK(report.at("options").at("max_seconds") == 0.2);
    CHECK(report.at("true_residual").get<double>() > 0);
    CHECK(lines_of(contents_of(folder.file("h.csv"))) ==
          report.at("iterations").get<std::size_t>() + 2);
    CHECK(fs::exists(folder.file("x.mtx")));
    const auto rest =
        report_of(folder, "gallery:poisson2d:900 --solver cg --x0 x.mtx --max-iterations 0");
    CHECK(rest.at("true_residual").get<double>() ==
          doctest::Approx(report.at("true_residual").get<double>()));
    CHECK(report_of(folder, "gallery:poisson2d:20 --max-seconds 0").at("iterations") == 0);
}

TEST_CASE("the condition number is in the report and the summary of cg") {
    const temporary_folder folder;
    const auto report = report_of(folder, "gallery:poisson2d:20 --rhs random:1 --rtol 1e-12");
    CHECK(report.at("condition_estimate").get<double>() == doctest::Approx(178.06).epsilon(1e-3));
    CHECK(report.at("eigenvalue_estimates").at("largest").get<double>() ==
          doctest::Approx(7.9553).epsilon(1e-3));
    CHECK(contains(run_krylith(folder, small_solve).out, "\ncondition   about "));
    CHECK(report_of(folder, "gallery:poisson2d:20 --solver gmres")
              .at("condition_estimate")
              .is_null());
}

TEST_CASE("a terminal shows what is known at once, then a line of progress, which goes away") {
    if (!has_terminals()) return;
    const temporary_folder folder;
    terminal_run run(folder, long_solve({"--max-seconds", "2"}));
    REQUIRE(run.shows("operator "));
    CHECK(contains(run.output(), "matrix      gallery:poisson2d:900: 810000 rows"));
    CHECK(contains(run.output(), "devices     "));
    CHECK_FALSE(contains(run.output(), "outcome "));
    REQUIRE(run.shows("(wanted "));
    CHECK_FALSE(contains(run.output(), "outcome "));
    const int status = run.status();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
    CHECK(contains(run.output(), "\r\x1b[Ksolver "));
    CHECK(contains(run.output(), "outcome "));

    terminal_run quiet(folder, long_solve({"--max-seconds", "1", "--quiet"}));
    CHECK(WEXITSTATUS(quiet.status()) == 1);
    CHECK(quiet.output().empty());
}

TEST_CASE("Ctrl-C and SIGTERM stop a solve with all its outputs written") {
    if (!has_terminals()) return;
    for (const bool typed : {true, false}) {
        const temporary_folder folder;
        terminal_run run(folder, long_solve({"--solution", "x.mtx", "--history", "h.csv",
                                             "--report", "r.json"}));
        REQUIRE(run.shows("(wanted "));
        if (typed)
            run.type("\x03");
        else
            run.signal(SIGTERM);
        const int status = run.status();
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 1);
        CHECK(contains(run.output(), "NOT converged: interrupted, after "));
        const auto report = nlohmann::json::parse(contents_of(folder.file("r.json")));
        CHECK(report.at("reason") == "interrupted");
        CHECK(lines_of(contents_of(folder.file("h.csv"))) ==
              report.at("iterations").get<std::size_t>() + 2);
        CHECK(contains(contents_of(folder.file("x.mtx")), "810000 1\n"));
    }
}

TEST_CASE("a second signal ends the command at once, and so does one that it doesn't stop for") {
    if (!has_terminals()) return;
    const temporary_folder folder;
    // A trip is a cycle, and takes seconds. Once the first is over, a stop has to wait for the
    // second.
    const std::vector<std::string> slow = {"solve",      "gallery:poisson2d:400",
                                           "--backend",  "host",
                                           "--solver",   "gmres",
                                           "--restart",  "200",
                                           "--rtol",     "1e-14",
                                           "--solution", "x.mtx",
                                           "--monitor"};
    {
        terminal_run run(folder, slow);
        REQUIRE(run.shows("\n      200 "));
        run.signal(SIGTERM);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        run.signal(SIGINT);
        const int status = run.status();
        CHECK(WIFSIGNALED(status));
    }
    {
        terminal_run run(folder, slow);
        REQUIRE(run.shows("\n      200 "));
        run.signal(SIGHUP);
        const int status = run.status();
        REQUIRE(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == SIGHUP);
    }
    CHECK_FALSE(fs::exists(folder.file("x.mtx")));
}

TEST_CASE("forecasts follow the rate at which the residual falls") {
    solve_forecast forecast;
    CHECK(forecast.iterations_a_second() == 0);
    CHECK_FALSE(forecast.seconds_left().has_value());
    // A digit in 10 iterations, an iteration in 0.1 s, 8 digits wanted.
    for (int k = 0; k <= 40; ++k) forecast.add(0.1 * k, {k, std::pow(10.0, -0.1 * k), 1e-8, 1});
    CHECK(forecast.iterations_a_second() == doctest::Approx(10));
    REQUIRE(forecast.seconds_left().has_value());
    CHECK(*forecast.seconds_left() == doctest::Approx(4));
    solve_forecast stuck;
    for (int k = 0; k <= 40; ++k) stuck.add(0.1 * k, {k, 1, 1e-8, 1});
    CHECK_FALSE(stuck.seconds_left().has_value());
    CHECK(rough_time(0.42) == "0.4 s");
    CHECK(rough_time(12.3) == "12 s");
    CHECK(rough_time(200) == "3 min 20 s");
    CHECK(rough_time(3900) == "1 h 5 min");
}
