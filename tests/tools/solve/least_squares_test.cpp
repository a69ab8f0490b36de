// Matrices that are not square, and lsqr by name.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/load.hpp>

#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

/// Writes a line through (0, 1), (1, 3), (2, 4), (3, 8): x = (0.7, 2.2), ||b - A x||^2 = 1.8.
void write_line_fit(const temporary_folder& folder) {
    std::ofstream(folder.file("fit.mtx"))
        << "%%MatrixMarket matrix coordinate real general\n4 2 7\n"
           "1 1 1\n2 1 1\n3 1 1\n4 1 1\n2 2 1\n3 2 2\n4 2 3\n";
    std::ofstream(folder.file("b.mtx"))
        << "%%MatrixMarket matrix array real general\n4 1\n1\n3\n4\n8\n";
}

} // namespace

TEST_CASE("solve: a matrix that is not square is solved by lsqr, by name and by auto") {
    const temporary_folder folder;
    write_line_fit(folder);
    for (const std::string options : {"--solver lsqr", "", "--solver lsqr --precond none",
                                      "--devices 3 --operator nz", "--precision fp32"}) {
        CAPTURE(options);
        const auto result =
            run_krylith(folder, "solve fit.mtx --rhs b.mtx --solution x.mtx --report r.json "
                                "--backend host " +
                                    options);
        REQUIRE_MESSAGE(result.status == 0, (result.out + result.err));
        CHECK(result.out.find("4 rows, 2 columns") != std::string::npos);
        CHECK(result.out.find("||A'(b - A x)|| <= rtol_normal") != std::string::npos);
        const auto x = krylith::load_vector<double>(folder.file("x.mtx").string());
        REQUIRE(x.size() == 2);
        CHECK(x[0] == doctest::Approx(0.7).epsilon(1e-5));
        CHECK(x[1] == doctest::Approx(2.2).epsilon(1e-5));
        const json report = json::parse(contents_of(folder.file("r.json")));
        CHECK(report.at("solver") == "lsqr");
        CHECK(report.at("reason") == "converged_rtol_normal");
        CHECK(report.at("matrix").at("rows") == 4);
        CHECK(report.at("matrix").at("columns") == 2);
        CHECK(report.at("true_residual").get<double>() == doctest::Approx(std::sqrt(1.8)));
        CHECK(report.at("relative_normal_residual").get<double>() <= 1e-5);
        const bool named = options.find("lsqr") != std::string::npos;
        CHECK(report.at("solver_because") == (named ? "" : "the matrix is not square"));
    }
}

TEST_CASE("solve: x0 has an entry a column, and lsqr takes square matrices too") {
    const temporary_folder folder;
    write_line_fit(folder);
    std::ofstream(folder.file("x0.mtx"))
        << "%%MatrixMarket matrix array real general\n2 1\n0.7\n2.2\n";
    const auto started = run_krylith(
        folder, "solve fit.mtx --rhs b.mtx --x0 x0.mtx --solver lsqr --report - --quiet");
    REQUIRE_MESSAGE(started.status == 0, started.err);
    CHECK(json::parse(started.out).at("iterations").get<int>() <= 1);
    const auto wrong = run_krylith(folder, "solve fit.mtx --x0 b.mtx --solver lsqr");
    CHECK(wrong.status != 0);
    CHECK(wrong.err.find("has 4 entries, the matrix 2 columns") != std::string::npos);
    const auto square = run_krylith(folder, "solve gallery:poisson2d:12 --solver lsqr --report - "
                                            "--rtol-normal 1e-14 --quiet");
    REQUIRE_MESSAGE(square.status == 0, square.err);
    const json report = json::parse(square.out);
    CHECK(report.at("reason") == "converged_rtol");
    CHECK(report.at("options").at("rtol_normal") == 1e-14);
    CHECK(report.at("bytes_per_iteration").get<double>() > 0);
}

TEST_CASE("solve: --damping") {
    const temporary_folder folder;
    // (9 + 7) x = 3 * 16 for each entry.
    std::ofstream(folder.file("three.mtx"))
        << "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 3\n";
    std::ofstream(folder.file("b.mtx"))
        << "%%MatrixMarket matrix array real general\n2 1\n16\n16\n";
    for (const std::string options : {"", "--precond none", "--solver lsqr"}) {
        const auto result = run_krylith(folder, "solve three.mtx --rhs b.mtx --solution x.mtx "
                                                "--damping 2.6457513110645907 --report - --quiet " +
                                                    options);
        REQUIRE_MESSAGE(result.status == 0, result.err);
        const json report = json::parse(result.out);
        CHECK(report.at("solver") == "lsqr");
        CHECK(report.at("solver_because") == (options != "--solver lsqr" ? "x is damped" : ""));
        CHECK(report.at("options").at("damping") == doctest::Approx(2.6457513110645907));
        const auto x = krylith::load_vector<double>(folder.file("x.mtx").string());
        CHECK(x[0] == doctest::Approx(3));
        CHECK(x[1] == doctest::Approx(3));
    }
}

TEST_CASE("solve: what lsqr and other solvers can't take is refused in words") {
    const temporary_folder folder;
    write_line_fit(folder);
    const auto refused = [&](const std::string& options, const char* why) {
        const auto result = run_krylith(folder, "solve " + options);
        CAPTURE(options);
        CHECK(result.status != 0);
        CHECK_MESSAGE(result.err.find(why) != std::string::npos, result.err);
    };
    refused("fit.mtx --solver gmres", "is a matrix of 4 x 2: it must be square");
    refused("fit.mtx --precond jacobi", "is a matrix of 4 x 2: it must be square");
    refused("fit.mtx --spd", "is a matrix of 4 x 2: it must be square");
    refused("gallery:poisson2d:5 --solver lsqr --precond jacobi", "lsqr takes no preconditioner");
    refused("fit.mtx --solver lsqr --precond jacobi", "needs a square matrix");
    refused("fit.mtx --solver lsqr --rtol-normal 2", "rtol_normal");
    refused("fit.mtx --damping -1", "damping");
    refused("gallery:poisson2d:5 --solver cg --damping 1", "takes no damping");
    refused("gallery:poisson2d:5 --precond jacobi --damping 1", "lsqr takes no preconditioner");
}
