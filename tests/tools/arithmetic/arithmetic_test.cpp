// krylith multiply and krylith add against products and sums of dense matrices.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::csr_matrix;
using krylith::load_matrix;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

/// Sums of stored entries by place.
std::vector<std::vector<double>> dense(const csr_matrix<double>& m) {
    std::vector<std::vector<double>> all(static_cast<std::size_t>(m.rows),
                                         std::vector<double>(static_cast<std::size_t>(m.columns)));
    for (std::size_t row = 0; row < all.size(); ++row)
        for (auto k = m.row_offsets[row]; k < m.row_offsets[row + 1]; ++k)
            all[row][static_cast<std::size_t>(m.column_indices[static_cast<std::size_t>(k)])] +=
                m.values[static_cast<std::size_t>(k)];
    return all;
}

std::vector<std::vector<double>> dense_product(const csr_matrix<double>& a,
                                               const csr_matrix<double>& b) {
    const auto left = dense(a);
    const auto right = dense(b);
    std::vector<std::vector<double>> c(left.size(),
                                       std::vector<double>(static_cast<std::size_t>(b.columns)));
    for (std::size_t i = 0; i < c.size(); ++i)
        for (std::size_t k = 0; k < right.size(); ++k)
            for (std::size_t j = 0; j < c[i].size(); ++j) c[i][j] += left[i][k] * right[k][j];
    return c;
}

constexpr const char* wide = // 3 x 5, with an empty row and an empty column; small whole numbers
    "%%MatrixMarket matrix coordinate real general\n3 5 6\n1 1 2\n1 4 -1\n3 5 3\n3 1 1\n3 3 4\n1 3 "
    "-2\n";
constexpr const char* tall =
    "%%MatrixMarket matrix coordinate real general\n5 2 5\n1 1 1\n3 1 1\n4 2 5\n5 1 -2\n1 2 3\n";

} // namespace

TEST_CASE("multiply: C is A B as a dense loop computes it, on any devices") {
    const temporary_folder folder;
    const auto a = load_matrix<double>(folder.write("a.mtx", wide).string());
    const auto b = load_matrix<double>(folder.write("b.mtx", tall).string());
    for (const char* options : {"", "--devices 2", "--devices 7", "--precision fp32"}) {
        CAPTURE(options);
        const auto said = run_krylith(
            folder,
            std::string("multiply a.mtx b.mtx c.mtx --backend host --report - --quiet ") + options);
        REQUIRE_MESSAGE(said.status == 0, said.err);
        const auto c = load_matrix<double>(folder.file("c.mtx").string());
        CHECK(dense(c) == dense_product(a, b));
        const json report = json::parse(said.out);
        CHECK(report.at("product").at("rows") == 3);
        CHECK(report.at("product").at("columns") == 2);
        CHECK(report.at("product").at("nnz") == c.nnz());
        CHECK(report.at("a").at("nnz") == 6);
    }
}

TEST_CASE("multiply: a square, a matrix of the gallery, and a summary") {
    const temporary_folder folder;
    const auto said =
        run_krylith(folder, "multiply gallery:web:40 gallery:web:40 c.kcsr --backend host");
    REQUIRE_MESSAGE(said.status == 0, said.err);
    CHECK_MESSAGE(contains(said.out, "A B         c.kcsr: 40 x 40"), said.out);
    const auto a = load_matrix<double>("gallery:web:40");
    const auto expected = dense_product(a, a);
    const auto c = dense(load_matrix<double>(folder.file("c.kcsr").string()));
    for (std::size_t i = 0; i < c.size(); ++i)
        for (std::size_t j = 0; j < c.size(); ++j)
            CHECK(c[i][j] == doctest::Approx(expected[i][j]).epsilon(1e-14));
}

TEST_CASE("multiply: rows of B that are not sorted, and entries of one place") {
    // Would surface: the kernels' demand for ascending columns as an error of the user's.
    const temporary_folder folder;
    csr_matrix<double> b;
    b.rows = b.columns = 3;
    b.row_offsets = {0, 3, 3, 5};
    b.column_indices = {2, 0, 2, 1, 0};
    b.values = {1, 2, 4, 8, 16};
    krylith::write_binary_csr(folder.file("b.kcsr"), b);
    const auto said = run_krylith(folder, "multiply b.kcsr b.kcsr c.mtx --backend host --quiet");
    REQUIRE_MESSAGE(said.status == 0, said.err);
    CHECK(dense(load_matrix<double>(folder.file("c.mtx").string())) == dense_product(b, b));
}

TEST_CASE("multiply: matrices without rows, columns or entries") {
    const temporary_folder folder;
    folder.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    folder.write("flat.mtx", "%%MatrixMarket matrix coordinate real general\n4 0 0\n");
    folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n0 3 0\n");
    for (const char* arguments : {"none.mtx none.mtx", "flat.mtx wide.mtx", "flat.mtx none.mtx"}) {
        CAPTURE(arguments);
        const auto said = run_krylith(folder, std::string("multiply ") + arguments +
                                                  " c.mtx --backend host --devices 2");
        REQUIRE_MESSAGE(said.status == 0, said.err);
        CHECK(load_matrix<double>(folder.file("c.mtx").string()).nnz() == 0);
    }
    const auto outer = load_matrix<double>(folder.file("c.mtx").string());
    CHECK(outer.rows == 4);
    CHECK(outer.columns == 0);
}

TEST_CASE("add: alpha A + beta B, on any devices, whatever the order in rows") {
    const temporary_folder folder;
    const auto a = load_matrix<double>(folder.write("a.mtx", wide).string());
    csr_matrix<double> b; // unsorted, with two entries of one place, and one that cancels
    b.rows = 3;
    b.columns = 5;
    b.row_offsets = {0, 4, 4, 5};
    b.column_indices = {4, 0, 4, 3, 1};
    b.values = {1, -4, 2, 8, 16};
    krylith::write_binary_csr(folder.file("b.kcsr"), b);
    const auto left = dense(a);
    const auto right = dense(b);
    for (const char* options : {"", "--devices 2", "--devices 7", "--precision fp32"}) {
        CAPTURE(options);
        const auto said =
            run_krylith(folder, std::string("add a.mtx b.kcsr c.mtx --alpha 2 --beta 0.5 --backend "
                                            "host --report - --quiet ") +
                                    options);
        REQUIRE_MESSAGE(said.status == 0, said.err);
        const auto c = load_matrix<double>(folder.file("c.mtx").string());
        const auto sums = dense(c);
        for (std::size_t i = 0; i < sums.size(); ++i)
            for (std::size_t j = 0; j < sums[i].size(); ++j)
                CHECK(sums[i][j] == 2 * left[i][j] + 0.5 * right[i][j]);
        const json report = json::parse(said.out);
        CHECK(report.at("sum").at("nnz") == c.nnz());
        CHECK(report.at("alpha") == 2);
        CHECK(report.at("beta") == 0.5);
    }
    REQUIRE(run_krylith(folder, "add a.mtx a.mtx c.kcsr --beta -1 --backend host").status == 0);
    const auto zeros = load_matrix<double>(folder.file("c.kcsr").string());
    CHECK(zeros.column_indices == a.column_indices); // what cancels stays
    CHECK(zeros.values == std::vector<double>(a.values.size(), 0.0));
    folder.write("tall.mtx", tall);
    const auto sizes = run_krylith(folder, "add a.mtx tall.mtx d.mtx --backend host");
    CHECK(sizes.status == 3);
    CHECK_MESSAGE(contains(sizes.err, "a.mtx is 3 x 5 and tall.mtx is 5 x 2"), sizes.err);
    CHECK_FALSE(std::filesystem::exists(folder.file("d.mtx")));
    CHECK(run_krylith(folder, "add a.mtx a.mtx d.mtx --alpha inf --backend host").status == 2);
    CHECK(run_krylith(folder, "multiply a.mtx a.mtx d.mtx --alpha 2").status == 2);
    folder.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    CHECK(run_krylith(folder, "add none.mtx none.mtx e.mtx --backend host --devices 2").status ==
          0);
}

TEST_CASE("multiply: what doesn't fit is refused, and nothing is lost") {
    const temporary_folder folder;
    folder.write("a.mtx", wide);
    const auto sizes = run_krylith(folder, "multiply a.mtx a.mtx c.mtx --backend host");
    CHECK(sizes.status == 3);
    CHECK_MESSAGE(contains(sizes.err, "a.mtx has 5 columns and a.mtx has 3 rows"), sizes.err);
    CHECK_FALSE(std::filesystem::exists(folder.file("c.mtx")));
    CHECK(run_krylith(folder, "multiply a.mtx a.mtx a.mtx --backend host").status == 2);
    CHECK(contents_of(folder.file("a.mtx")) == wide);
    CHECK(run_krylith(folder, "multiply a.mtx b.mtx").status == 2);
    CHECK(run_krylith(folder, "multiply - - c.mtx < a.mtx").status == 2);
    CHECK(run_krylith(folder, "multiply a.mtx b.mtx c.txt").status == 2);
    CHECK(run_krylith(folder, "multiply a.mtx b.mtx c.mtx --precision fp16").status == 2);
    CHECK(run_krylith(folder, "multiply a.mtx absent.mtx c.mtx --backend host").status == 3);
}
