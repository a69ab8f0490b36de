// krylith solve --rhs FILE, where the file has several columns.
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/market.hpp>
#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/solve_report_of.hpp>

using krylith::test::contains;
using krylith::test::report_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using krylith::test::banner::array;
using nlohmann::json;

namespace {

/// 4 x 4: diag(2, 4, 8, -1).
void write_matrix(const temporary_folder& folder) {
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n"
                          "1 1 2\n2 2 4\n3 3 8\n4 4 -1\n");
}

} // namespace

TEST_CASE("each column of --rhs is solved, at once or one after another") {
    const temporary_folder folder;
    write_matrix(folder);
    folder.write("b.mtx", array + "4 3\n2\n4\n0\n0\n0\n0\n8\n0\n4\n4\n8\n0\n");
    for (const std::string how :
         {"--solver cg", "--solver gmres", "--solver idr", "--solver cg --devices 2"}) {
        INFO(how);
        const json report = report_of(folder, "a.mtx --rhs b.mtx --solution x.mtx " + how);
        CHECK(report.at("converged") == true);
        const json& sides = report.at("right_hand_sides");
        CHECK(sides.at("count") == 3);
        CHECK(sides.at("at_once") == !contains(how, "idr"));
        CHECK(sides.at("columns_a_loop") == (contains(how, "idr") ? 1 : 4));
        REQUIRE(sides.at("columns").size() == 3);
        CHECK(sides["columns"][2].at("column") == 3);
        CHECK(sides["columns"][2].at("converged") == true);
        const auto x = krylith::load_columns<double>(folder.file("x.mtx").string());
        CHECK(x.rows == 4);
        CHECK(x.columns == 3);
        const double expected[] = {1, 1, 0, 0, 0, 0, 1, 0, 2, 1, 1, 0};
        for (std::size_t i = 0; i < 12; ++i) CHECK(x.values[i] == doctest::Approx(expected[i]));
    }
    CHECK(report_of(folder, "a.mtx").at("right_hand_sides").is_null());
}

TEST_CASE("arrays of NumPy are right-hand sides, guesses and solutions of several columns") {
    const temporary_folder folder;
    write_matrix(folder);
    const std::vector<double> x = {1, 1, 1, 0, 0, 0, 1, 0};
    krylith::save_columns<float>(folder.file("b.npy"), {4, 2, {2, 4, 8, 0, 0, 0, 8, 0}});
    for (const std::string more : {"", "--precision fp32 "}) {
        const json report =
            report_of(folder, "a.mtx --rhs b.npy --solution x.npy --solver cg " + more);
        CHECK(report.at("right_hand_sides").at("count") == 2);
        const auto solved = krylith::load_columns<double>(folder.file("x.npy").string());
        CHECK(solved.rows == 4);
        REQUIRE(solved.columns == 2);
        for (std::size_t i = 0; i < x.size(); ++i) CHECK(solved.values[i] == doctest::Approx(x[i]));
        const json again = report_of(folder, "a.mtx --rhs b.npy --x0 x.npy --solver cg " + more);
        for (const json& column : again.at("right_hand_sides").at("columns"))
            CHECK(column.at("iterations") == 0);
    }
    const auto converted = run_krylith(folder, "convert --vector b.npy c.mtx");
    CHECK(contains(converted.out, "vectors     b.npy: 2 of 4 entries"));
    CHECK(krylith::load_columns<double>(folder.file("c.mtx").string()).columns == 2);
    CHECK(run_krylith(folder, "convert --vector b.npy c.petsc").status == 2);
}

TEST_CASE("a column that fails makes the command fail, and the table says which") {
    const temporary_folder folder;
    write_matrix(folder);
    folder.write("b.mtx", array + "4 2\n2\n4\n0\n0\n0\n0\n0\n1\n");
    const auto result = run_krylith(folder, "solve a.mtx --rhs b.mtx --solver cg --backend host");
    CHECK(result.status == 1);
    CHECK(contains(result.out, "2 right-hand sides at once, 2 in a loop"));
    CHECK(contains(result.out, "     2          0  1.000e+00  NOT converged: the matrix is not "
                               "positive definite"));
    CHECK(contains(result.out, "1 of 2 converged"));
    // Auto solves it alone.
    CHECK(run_krylith(folder, "solve a.mtx --rhs b.mtx --backend host --quiet").status == 0);
}

TEST_CASE("guesses have as many columns as right-hand sides") {
    const temporary_folder folder;
    write_matrix(folder);
    folder.write("b.mtx", array + "4 2\n2\n4\n8\n0\n0\n0\n8\n0\n");
    folder.write("x.mtx", array + "4 2\n1\n1\n1\n0\n0\n0\n1\n0\n");
    const json report = report_of(folder, "a.mtx --rhs b.mtx --x0 x.mtx --solver cg");
    for (const json& column : report.at("right_hand_sides").at("columns"))
        CHECK(column.at("iterations") == 0);
    folder.write("one.mtx", array + "4 1\n1\n1\n1\n0\n");
    const auto refused = run_krylith(folder, "solve a.mtx --rhs b.mtx --x0 one.mtx --backend host");
    CHECK(refused.status == 3);
    CHECK(contains(refused.err, "one.mtx has 4 rows and 1 columns, the solution 4 and 2"));
}

TEST_CASE("right-hand sides that can't be are refused before anything is solved") {
    const temporary_folder folder;
    write_matrix(folder);
    const auto message = [&](const std::string& text, const std::string& more = "") {
        folder.write("b.mtx", array + text);
        const auto result =
            run_krylith(folder, "solve a.mtx --rhs b.mtx --backend host --quiet " + more);
        CHECK(result.status == (more.empty() ? 3 : 2));
        return result.err;
    };
    const std::string two = "4 2\n1\n1\n1\n1\n1\n1\n1\n1\n";
    CHECK(contains(message("3 2\n1\n1\n1\n1\n1\n1\n"), "b.mtx has 3 rows, the matrix 4 rows"));
    CHECK(contains(message("4 0\n"), "0 columns, allowed are 1 and more"));
    CHECK(contains(message("4 2\n1\n1\n1\n1\n1\nnan\n1\n1\n"), "b.mtx:8: "));
    CHECK(contains(message(two, "--history h.csv"), "--history is for one right-hand side"));
    CHECK(contains(message(two, "--plot p.svg"), "--plot is for one right-hand side"));
    CHECK(
        contains(message(two, "--solution x.txt"),
                 "a list of numbers holds one vector, and there are 2: its name must end in .mtx, "
                 ".mtx.gz or .npy"));
}
