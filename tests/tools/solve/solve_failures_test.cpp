// What krylith solve says of solves that fail, or that may mislead.
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/neumann.hpp>
#include <krylith/tests/tools/support/solve_report_of.hpp>

using krylith::test::contains;
using krylith::test::report_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using krylith::test::write_neumann;
using nlohmann::json;

TEST_CASE("an rtol that the precision can't tell is warned of; where fp32 ends, it is named") {
    const temporary_folder folder;
    const auto text = [&](const std::string& options) {
        return run_krylith(folder, "solve gallery:poisson2d:20 --backend host " + options).out;
    };
    const std::string strict = text("--precision fp32 --rtol 1e-9");
    CHECK_MESSAGE(contains(strict, "rtol 1e-09 is less than fp32 can tell (1.2e-07)"), strict);
    CHECK_MESSAGE(contains(strict, "fp32 reaches a relative residual of about"), strict);
    CHECK_MESSAGE(contains(strict, "use fp64"), strict);
    CHECK(contains(text("--rtol 1e-17"), "rtol 1e-17 is less than fp64 can tell (2.2e-16)"));
    CHECK_FALSE(contains(text("--precision fp32 --rtol 1e-6"), "can tell"));
    CHECK_FALSE(contains(text("--rtol 1e-12"), "can tell"));
}

TEST_CASE("a failure ends with the command to try next, which takes the same system") {
    const temporary_folder folder;
    folder.write("it's a.mtx",
                 "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -2\n");
    const auto last_line = [](std::string text) {
        text.pop_back();
        return text.substr(text.rfind('\n') + 1);
    };
    const auto odd =
        run_krylith(folder, "solve \"it's a.mtx\" --solver cg --backend host --atol 1e-3");
    CHECK(odd.status == 1);
    const std::string line = last_line(odd.out);
    CHECK(line.starts_with("next        krylith recommend "));
    CHECK(contains(line, " --atol 0.001"));
    const std::string arguments = line.substr(line.find("recommend"));
    CHECK_MESSAGE(run_krylith(folder, arguments + " --seconds 1").status == 0, arguments);
    const auto plain = run_krylith(
        folder, "solve gallery:poisson2d:20 --spd --rhs random:3 --rtol 1e-9 --max-iterations 2");
    CHECK(last_line(plain.out) == "next        krylith recommend gallery:poisson2d:20 --spd --rhs "
                                  "random:3 --rtol 1e-09");
    CHECK_FALSE(
        contains(run_krylith(folder, "solve gallery:poisson2d:9").out, "krylith recommend"));
    CHECK(report_of(folder, "gallery:poisson2d:20 --max-iterations 2").at("next_command") ==
          "krylith recommend gallery:poisson2d:20 --backend host");
    CHECK(report_of(folder, "gallery:poisson2d:9").at("next_command").is_null());
}

TEST_CASE("where cg meets a negative definite matrix, the way out is -A") {
    const temporary_folder folder;
    folder.write("negative.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n"
                                 "1 1 -4\n2 1 1\n2 2 -4\n3 2 1\n3 3 -4\n");
    folder.write("signs.mtx",
                 "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 -1\n");
    for (const std::string precond : {"none", "jacobi"}) {
        const std::string options = " --solver cg --rhs random:1 --precond " + precond;
        const std::string negative = report_of(folder, "negative.mtx" + options).at("diagnosis");
        CHECK_MESSAGE(contains(negative, "solves (-A) x = -b"), negative);
        CHECK_FALSE(contains(negative, "--precond"));
        const std::string mixed = report_of(folder, "signs.mtx" + options).at("diagnosis");
        CHECK_MESSAGE(contains(mixed, "1 negative entry"), mixed);
        CHECK_FALSE(contains(mixed, "-A"));
    }
}

TEST_CASE("range:SEED has a solution where A is singular, row-sums may be nothing but rounding") {
    const temporary_folder folder;
    write_neumann(folder, "neumann.mtx");
    const json range = report_of(folder, "neumann.mtx --rhs range:1");
    CHECK(range.at("converged") == true);
    CHECK(range.at("rhs_norm").get<double>() > 0.1);
    CHECK(range.at("warnings").empty());
    const json sums = report_of(folder, "neumann.mtx --rhs row-sums");
    CHECK(contains(sums.at("warnings").dump(), "--rhs row-sums is 0 up to rounding"));
    CHECK(report_of(folder, "gallery:poisson2d:9 --rhs row-sums").at("warnings").empty());
}

TEST_CASE("a failure has status 1, a reason and a diagnosis") {
    const temporary_folder folder;
    const json early = report_of(folder, "gallery:poisson2d:20 --max-iterations 3");
    CHECK(early.at("reason") == "max_iterations");
    CHECK(early.at("diagnosis") != "");
    CHECK(early.at("iterations") == 3);
    CHECK(run_krylith(folder, "solve gallery:poisson2d:20 --max-iterations 3").status == 1);
    folder.write("indefinite.mtx",
                 "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -2\n");
    CHECK(report_of(folder, "indefinite.mtx --solver cg").at("reason") == "indefinite_matrix");
    const json skew =
        report_of(folder, "gallery:convection_diffusion:6:100 --solver cg --max-iterations 40");
    CHECK(skew.at("converged") == false);
    CHECK(contains(skew.at("diagnosis"), "not symmetric: entry (1, 2)"));
}
