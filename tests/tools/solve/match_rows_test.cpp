// krylith solve --match-rows
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

void write_swapped(const temporary_folder& folder) {
    std::ofstream(folder.file("swap.mtx")) << "%%MatrixMarket matrix coordinate real general\n"
                                              "3 3 4\n1 2 2\n2 1 4\n3 3 5\n3 1 1\n";
    std::ofstream(folder.file("b.mtx")) << "%%MatrixMarket matrix array real general\n"
                                           "3 2\n2\n8\n12\n4\n4\n6\n";
}

} // namespace

TEST_CASE("solve: --match-rows brings large entries to the diagonal, and leaves x as it is") {
    const temporary_folder folder;
    write_swapped(folder);
    const std::string line = "solve swap.mtx --solver gmres --precond jacobi --backend host "
                             "--devices 1 --report out.json --solution x.txt ";
    const auto refused = run_krylith(folder, line + "--rhs row-sums");
    CHECK(refused.status == 3);
    CHECK_MESSAGE(contains(refused.err, "--match-rows"), refused.err);
    const auto solved = run_krylith(folder, line + "--rhs row-sums --match-rows");
    REQUIRE_MESSAGE(solved.status == 0, solved.err);
    CHECK_MESSAGE(contains(solved.out, "rows        2 stand elsewhere, for large entries on the "
                                       "diagonal ("),
                  solved.out);
    const json report = json::parse(contents_of(folder.file("out.json")));
    CHECK(report.at("row_matching").at("moved") == 2);
    CHECK(report.at("row_matching").at("unmatched") == 0);
    CHECK(report.at("options").at("match_rows") == true);
    CHECK(report.at("solution_error").get<double>() <= 1e-7);
}

TEST_CASE("solve: --match-rows with several right-hand sides") {
    const temporary_folder folder;
    write_swapped(folder);
    const auto solved =
        run_krylith(folder, "solve swap.mtx --rhs b.mtx --match-rows --solver bicgstab --precond "
                            "jacobi --backend host --devices 1 --solution x.mtx");
    REQUIRE_MESSAGE(solved.status == 0, solved.err);
    std::ifstream file(folder.file("x.mtx"));
    std::string text;
    while (std::getline(file, text) && text.starts_with("%")) {
    }
    CHECK(text == "3 2");
    for (const double expected : {2.0, 1.0, 2.0, 1.0, 2.0, 1.0}) {
        double value = 0;
        file >> value;
        CHECK(value == doctest::Approx(expected).epsilon(1e-6));
    }
}

TEST_CASE("solve: --match-rows is refused where symmetry is needed or A is not square") {
    const temporary_folder folder;
    write_swapped(folder);
    for (const char* solver : {"cg", "minres"}) {
        const auto refused = run_krylith(
            folder, std::string("solve swap.mtx --match-rows --backend host --solver ") + solver);
        CHECK(refused.status == 2);
        CHECK_MESSAGE(contains(refused.err, std::string("--match-rows leaves no symmetry, which ") +
                                                solver + " needs"),
                      refused.err);
    }
    std::ofstream(folder.file("wide.mtx")) << "%%MatrixMarket matrix coordinate real general\n"
                                              "1 2 2\n1 1 1\n1 2 1\n";
    const auto wide = run_krylith(folder, "solve wide.mtx --match-rows --backend host");
    CHECK(wide.status == 2);
    CHECK_MESSAGE(contains(wide.err, "matched_rows needs a square matrix; A is 1 x 2"), wide.err);
}
