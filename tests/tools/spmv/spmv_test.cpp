// krylith spmv against a dense product.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

constexpr std::size_t n = 9;

/// Not symmetric, with an empty row and an empty column.
double entry(std::size_t row, std::size_t column) {
    if (row == 4 || column == 2 || (row * 5 + column * 3) % 4 == 1) return 0;
    return 1.0 + 0.25 * static_cast<double>(row) - 0.5 * static_cast<double>(column);
}

std::string matrix_text() {
    std::string entries;
    int count = 0;
    for (std::size_t row = 0; row < n; ++row)
        for (std::size_t column = 0; column < n; ++column) {
            if (entry(row, column) == 0) continue;
            entries += std::to_string(row + 1) + " " + std::to_string(column + 1) + " " +
                       std::to_string(entry(row, column)) + "\n";
            ++count;
        }
    return "%%MatrixMarket matrix coordinate real general\n9 9 " + std::to_string(count) + "\n" +
           entries;
}

std::string vector_text(const std::vector<double>& values) {
    std::string text = "%%MatrixMarket matrix array real general\n9 1\n";
    for (const double value : values) text += std::to_string(value) + "\n";
    return text;
}

} // namespace

TEST_CASE("y = alpha A x + beta y as a dense loop computes it") {
    const temporary_folder folder;
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> expected;
    for (std::size_t i = 0; i < n; ++i) {
        x.push_back(0.5 * static_cast<double>(i) - 1);
        y.push_back(3 - static_cast<double>(i));
    }
    for (std::size_t row = 0; row < n; ++row) {
        double sum = 0;
        for (std::size_t column = 0; column < n; ++column) sum += entry(row, column) * x[column];
        expected.push_back(-2 * sum + 0.5 * y[row]);
    }
    folder.write("a.mtx", matrix_text());
    folder.write("x.mtx", vector_text(x));
    folder.write("y.mtx", vector_text(y));
    for (const char* options :
         {"", "--devices 2", "--devices 3 --operator nz", "--devices 3 --operator halo",
          "--devices 11 --operator halo", "--devices 11 --operator allgather",
          "--devices 11 --operator nz", "--devices 3 --operator 2nz",
          "--devices 2 --operator lra --long-fraction 0.3",
          "--devices 11 --operator lra-rc --transport copy-engine",
          "--devices 2 --operator lra-rc --long-fraction 0.3 --redundant-fraction 0.1 --transport "
          "peer-store",
          "--devices 2 --transport staged", "--precision fp32"}) {
        CAPTURE(options);
        const auto result = run_krylith(
            folder, std::string("spmv a.mtx --x x.mtx --y y.mtx --alpha -2 --beta 0.5 --repeat 3 "
                                "--backend host --output out.mtx --report - --quiet ") +
                        options);
        REQUIRE_MESSAGE(result.status == 0, result.err);
        const json report = json::parse(result.out);
        CHECK(report.at("agrees") == true);
        CHECK(report.at("seconds").get<double>() > 0);
        CHECK(report.at("gigabytes_per_second").get<double>() > 0);
        CHECK(report.at("narrow_fraction") == 0); // csr has each value in full
        const auto out = krylith::read_vector_market<double>(folder.file("out.mtx"));
        REQUIRE(out.size() == n);
        for (std::size_t row = 0; row < n; ++row)
            CHECK(out[row] == doctest::Approx(expected[row]).epsilon(1e-6));
    }
}

TEST_CASE("the report says how results got to the other devices, and why") {
    const temporary_folder folder;
    const auto report_of = [&](const std::string& options) {
        const auto result = run_krylith(
            folder,
            "spmv gallery:poisson2d:9 --backend host --repeat 2 --report - --quiet " + options);
        REQUIRE_MESSAGE(result.status == 0, result.err);
        return json::parse(result.out);
    };
    const auto stores = report_of("--devices 3 --operator lra");
    CHECK(stores.at("operator") == "lra");
    CHECK(stores.at("transport") == "peer-store");
    CHECK(stores.at("transport_because") == "auto: every device reaches the memory of the others");
    CHECK(stores.at("execution") == "recorded");
    CHECK(stores.at("repeat") == 16); // whole recordings are timed
    const auto copies = report_of("--devices 3 --operator 2nz --transport copy-engine");
    CHECK(copies.at("transport") == "copy-engine");
    CHECK(copies.at("transport_because") == "as asked for");
    CHECK(copies.at("execution") == "eager");
    const auto staged = report_of("--devices 3 --operator nz --transport staged");
    CHECK(staged.at("transport") == "copy-engine");
    CHECK(staged.at("transport_because") == "auto: staged copies were asked for");
    CHECK(report_of("--devices 1").at("transport_because") == "one device, nothing moves");
}

TEST_CASE("without beta y is not read") {
    const temporary_folder folder;
    const auto result = run_krylith(
        folder, "spmv gallery:poisson2d:5 --backend host --repeat 2 --output out.mtx --quiet");
    CHECK(result.status == 0);
    CHECK(result.out.empty());
    const auto out = krylith::read_vector_market<double>(folder.file("out.mtx"));
    CHECK(out[0] == 2);  // a corner: 4 - 1 - 1
    CHECK(out[12] == 0); // the middle
}

namespace {

constexpr std::size_t wide_rows = 5;
constexpr std::size_t wide_columns = 8;

double wide_entry(std::size_t row, std::size_t column) {
    if (row == 2 || column == 6 || (row * 3 + column * 5) % 4 == 1) return 0;
    return 2.0 - 0.5 * static_cast<double>(row) + 0.25 * static_cast<double>(column);
}

std::string wide_text() {
    std::string entries;
    int count = 0;
    for (std::size_t row = 0; row < wide_rows; ++row)
        for (std::size_t column = 0; column < wide_columns; ++column) {
            if (wide_entry(row, column) == 0) continue;
            entries += std::to_string(row + 1) + " " + std::to_string(column + 1) + " " +
                       std::to_string(wide_entry(row, column)) + "\n";
            ++count;
        }
    return "%%MatrixMarket matrix coordinate real general\n5 8 " + std::to_string(count) + "\n" +
           entries;
}

std::string text_of(const std::vector<double>& values) {
    std::string text =
        "%%MatrixMarket matrix array real general\n" + std::to_string(values.size()) + " 1\n";
    for (const double value : values) text += std::to_string(value) + "\n";
    return text;
}

} // namespace

TEST_CASE("spmv of a matrix that is not square, and of its transposed, as a dense loop has it") {
    const temporary_folder folder;
    std::vector<double> of_columns;
    std::vector<double> of_rows;
    for (std::size_t j = 0; j < wide_columns; ++j)
        of_columns.push_back(0.5 * static_cast<double>(j) - 1);
    for (std::size_t i = 0; i < wide_rows; ++i) of_rows.push_back(3 - static_cast<double>(i));
    folder.write("wide.mtx", wide_text());
    folder.write("of_columns.mtx", text_of(of_columns));
    folder.write("of_rows.mtx", text_of(of_rows));
    for (const bool transposed : {false, true}) {
        const std::vector<double>& x = transposed ? of_rows : of_columns;
        const std::vector<double>& y = transposed ? of_columns : of_rows;
        std::vector<double> expected;
        for (std::size_t i = 0; i < y.size(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < x.size(); ++j)
                sum += (transposed ? wide_entry(j, i) : wide_entry(i, j)) * x[j];
            expected.push_back(-2 * sum + 0.5 * y[i]);
        }
        const std::string vectors = transposed ? "--transpose --x of_rows.mtx --y of_columns.mtx "
                                               : "--x of_columns.mtx --y of_rows.mtx ";
        for (const char* options :
             {"", "--devices 2", "--devices 3 --operator nz", "--devices 3 --operator halo",
              "--devices 11 --operator halo", "--devices 11 --operator allgather",
              "--devices 11 --operator lra-rc", "--devices 3 --operator 2nz",
              "--devices 4 --operator lra", "--devices 2 --operator adaptive",
              "--devices 4 --operator pcsr", "--devices 4 --operator pcsc",
              "--devices 4 --operator pcoo", "--devices 2 --transport staged",
              "--precision fp32"}) {
            CAPTURE(transposed);
            CAPTURE(options);
            const auto result = run_krylith(
                folder, "spmv wide.mtx " + vectors +
                            "--alpha -2 --beta 0.5 --repeat 3 --backend host --output out.mtx "
                            "--report - --quiet " +
                            options);
            REQUIRE_MESSAGE(result.status == 0, result.err);
            const json report = json::parse(result.out);
            CHECK(report.at("agrees") == true);
            CHECK(report.at("matrix").at("rows") == 5);
            CHECK(report.at("matrix").at("columns") == 8);
            CHECK(report.at("transpose") == transposed);
            const auto out = krylith::read_vector_market<double>(folder.file("out.mtx"));
            REQUIRE(out.size() == expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i)
                CHECK(out[i] == doctest::Approx(expected[i]).epsilon(1e-6));
        }
    }
}

TEST_CASE("spmv of a matrix that is not square: what is said, and what is refused") {
    const temporary_folder folder;
    folder.write("wide.mtx", wide_text());
    folder.write("five.mtx", text_of(std::vector<double>(5, 1)));
    const auto run = [&](const std::string& options) {
        return run_krylith(folder, "spmv wide.mtx --backend host --repeat 2 " + options);
    };
    const auto said = run("--devices 2");
    CHECK(said.status == 0);
    CHECK(said.out.find("wide.mtx: 5 rows, 8 columns, ") != std::string::npos);
    CHECK(said.out.find("halo (auto: the usual one for a matrix that is not square") !=
          std::string::npos);
    CHECK(run("--y row-sums --beta 1").status == 0);
    CHECK(run("--transpose --x row-sums --quiet").status == 0);
    for (const auto& [options, status, words] :
         {std::tuple{"--x row-sums", 2,
                     "--x is row-sums, which has an entry a row, 5, but must have one a column, 8"},
          std::tuple{"--x range:3", 2, "--x is range:SEED, which has an entry a row, 5"},
          std::tuple{"--transpose --y row-sums", 2, "--y is row-sums"},
          std::tuple{"--x five.mtx", 3, "five.mtx has 5 entries, the matrix 8 columns"},
          std::tuple{"--reorder rcm", 2, "order rcm needs a square matrix; A is 5 x 8"},
          std::tuple{"--spd", 3, "wide.mtx is a matrix of 5 x 8: it must be square"}}) {
        CAPTURE(options);
        const auto result = run(options);
        CHECK(result.status == status);
        CHECK(result.err.find(words) != std::string::npos);
    }
    const auto solve = run_krylith(folder, "solve wide.mtx --backend host --solver gmres");
    CHECK(solve.status == 3);
    CHECK(solve.err.find("wide.mtx is a matrix of 5 x 8: it must be square") != std::string::npos);
}
