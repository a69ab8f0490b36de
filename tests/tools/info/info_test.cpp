// krylith info, and what it calls a matrix.
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/market.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/well_formed.hpp>
#include <krylith/tools/info/info_run.hpp>

namespace krylith::tool {
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using krylith::test::banner::real;
using krylith::testing::from_dense;
using nlohmann::json;

namespace {

matrix_class class_of(const csr_matrix<double>& a) {
    return classify(describe(a)).what;
}

} // namespace

TEST_CASE("a matrix is called what its entries prove, no more") {
    CHECK(class_of(poisson2d<double>(5)) == matrix_class::positive_definite);
    CHECK(class_of(random_spd<double>(50, 5, 1)) == matrix_class::positive_definite);
    CHECK(class_of(convection_diffusion<double>(4, 10)) == matrix_class::nonsymmetric);
    CHECK(class_of(from_dense({{2, 3}, {3, 9}})) == matrix_class::positive_candidate);
    CHECK(class_of(from_dense({{1, -1}, {-1, 1}})) == matrix_class::indefinite); // a zero minor
    // Each pair of rows is fine, and together they sum to 0.
    CHECK(class_of(from_dense({{2, -1, -1}, {-1, 2, -1}, {-1, -1, 2}})) ==
          matrix_class::positive_semidefinite);
    // The same with other signs is weakly dominant only: nothing is proved.
    CHECK(class_of(from_dense({{2, 1, -1}, {1, 2, 1}, {-1, 1, 2}})) ==
          matrix_class::positive_candidate);
    CHECK(class_of(from_dense({{-2, 1}, {1, -2}})) == matrix_class::negative_candidate);
    CHECK(class_of(from_dense({{1, 2}, {2, 1}})) == matrix_class::indefinite);
    CHECK(class_of(from_dense({{1, 0}, {0, -1}})) == matrix_class::indefinite);
    CHECK(class_of(from_dense({{0, 1}, {1, 0}})) == matrix_class::indefinite);
    CHECK(class_of(from_dense({{0, 1}, {-1, 0}})) == matrix_class::skew);
    csr_matrix<double> wide{1, 2, {0, 1}, {0}, {1}};
    CHECK(class_of(wide) == matrix_class::no_system);
    wide.columns = 1;
    wide.values[0] = std::numeric_limits<double>::infinity();
    CHECK(class_of(wide) == matrix_class::no_system);
}

TEST_CASE("hints say what makes a matrix singular or jacobi useless") {
    const auto hints = [](const csr_matrix<double>& a) {
        std::string all;
        for (const std::string& hint : classify(describe(a)).hints) all += hint + "\n";
        return all;
    };
    CHECK(hints(poisson2d<double>(4)).empty());
    CHECK(contains(hints(from_dense({{1, -1}, {-1, 1}})), "every row sums to 0"));
    CHECK(contains(hints(from_dense({{1, 0}, {1, 0}})), "0 empty rows, 1 empty column"));
    CHECK(contains(hints(from_dense({{0, 1}, {1, 2}})), "1 zero on the diagonal"));
    CHECK(contains(hints(from_dense({{1, 0}, {0, 1e6}})), "factor of 1e+06"));
}

TEST_CASE("the report of info has all statistics and a row for each way to lie on devices") {
    const temporary_folder folder;
    const auto result =
        run_krylith(folder, "info gallery:poisson2d:30 --report - --device-counts 1,3");
    REQUIRE_MESSAGE(result.status == 0, result.err);
    const json report = json::parse(result.out);
    CHECK(report.at("matrix").at("nnz") == 4380);
    CHECK(report.at("class") == "positive_definite");
    CHECK(report.at("row_lengths").at("most") == 5);
    CHECK(report.at("bandwidth").at("lower") == 30);
    CHECK(report.at("symmetry").at("by_values") == true);
    CHECK(report.at("symmetry").at("first_difference").is_null());
    CHECK(report.at("diagonal").at("positive") == 900);
    CHECK(report.at("diagonal").at("strictly_dominant_rows") == 116);
    CHECK(report.at("values").at("largest_magnitude") == 4);
    REQUIRE(report.at("footprints").size() == 4); // 1; 3 halo, 3 nz, 3 gather
    CHECK(report["footprints"][1].at("received_entries") == 60);
    CHECK(report["footprints"][2].at("received_entries") >= 600); // nz: all rows of the others
    CHECK(report["footprints"][0].at("vector_bytes").at("cg") == 8 * 900 * 8);
    CHECK(contains(result.err, "SPD")); // the summary makes room for the report
}

TEST_CASE("the summary names the asymmetric entry, zeros and duplicates' sums") {
    const temporary_folder folder;
    folder.write("a.mtx", real + "3 3 5\n1 1 2\n1 2 5\n2 1 4\n3 3 0\n3 3 0\n");
    const auto result = run_krylith(folder, "info a.mtx");
    CHECK(result.status == 0);
    for (const char* text :
         {"3 rows, 3 columns, 4 nonzeros", "entry (1, 2) is 5, its mirror 4", "1 stored zero",
          "1 positive, 0 negative, 2 zero (1 not stored)", "values: 0% equal it"})
        CHECK_MESSAGE(contains(result.out, text), result.out);
}

TEST_CASE("info takes any shape") {
    const temporary_folder folder;
    folder.write("none.mtx", real + "0 0 0\n");
    folder.write("row.mtx", real + "1 400 2\n1 1 1\n1 400 1\n");
    folder.write("empty.mtx", real + "50 50 0\n");
    folder.write("column.mtx", real + "400 1 1\n7 1 1\n");
    for (const std::string name : {"none.mtx", "row.mtx", "empty.mtx", "column.mtx"}) {
        const auto result = run_krylith(folder, "info " + name + " --plot p.svg --report r.json");
        CHECK_MESSAGE(result.status == 0, result.err);
        CHECK(krylith::test::well_formed(contents_of(folder.file("p.svg"))));
        CHECK(json::accept(contents_of(folder.file("r.json"))));
        CHECK_FALSE(contains(result.out, " nan"));
    }
}

TEST_CASE("info refuses what it can't do") {
    const temporary_folder folder;
    CHECK(run_krylith(folder, "info gallery:poisson2d:3 --device-counts 0").status == 2);
    CHECK(run_krylith(folder, "info gallery:poisson2d:3 --device-counts 65").status == 2);
    CHECK(run_krylith(folder, "info absent.mtx").status == 3);
    CHECK(run_krylith(folder, "info gallery:poisson2d:3 --plot absent/p.svg").status == 3);
    const auto quiet = run_krylith(folder, "info gallery:poisson2d:3 --quiet");
    CHECK(quiet.out.empty());
    CHECK(quiet.status == 0);
}

TEST_CASE("info tells the power law of row lengths where there is one") {
    const temporary_folder folder;
    const auto law_of = [&](const std::string& matrix) {
        const auto said = run_krylith(folder, "info " + matrix + " --report - --quiet");
        REQUIRE_MESSAGE(said.status == 0, said.err);
        return json::parse(said.out).at("power_law");
    };
    CHECK(law_of("gallery:poisson2d:30").is_null());
    const json law = law_of("gallery:web:3000");
    CHECK(law.at("exponent") > 2);
    CHECK(law.at("exponent") < 3);
    CHECK(law.at("distance") < 0.05);
    CHECK(law.at("rows") <= 3000);
    const auto said = run_krylith(folder, "info gallery:web:3000 --no-picture").out;
    CHECK_MESSAGE(contains(said, "power law    exponent 2."), said);
    CHECK_FALSE(contains(run_krylith(folder, "info gallery:poisson2d:30").out, "power law"));
}

} // namespace krylith::tool
