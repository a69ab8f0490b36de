// Files as other programs write them: assembled with duplicates, vectors with a shorter header.
#include <krylith/matrix/matrix_market.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/tests/matrix/support/market.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace {

using krylith::parse_matrix_market;
using krylith::parse_vector_market;
using krylith::test::message_of;
using krylith::test::vector_refusal;

std::vector<double> vector_of(const std::string& text) {
    return parse_vector_market<double>(text, "v.mtx");
}

} // namespace

TEST_CASE("an assembled file may have more entries than places: they are summed") {
    krylith::file_report report;
    const auto matrix =
        parse_matrix_market<double>("%%MatrixMarket matrix coordinate real general\n"
                                    "1 2 5\n1 1 1\n1 2 2\n1 1 4\n1 1 8\n1 2 16\n",
                                    "a.mtx", {.report = &report});
    CHECK(matrix == krylith::csr_matrix<double>{1, 2, {0, 2}, {0, 1}, {13, 18}});
    CHECK(report.entries == 5);
    CHECK(report.duplicates == 3);
    const auto symmetric = parse_matrix_market<double>(
        "%%MatrixMarket matrix coordinate real symmetric\n1 1 3\n1 1 1\n1 1 1\n1 1 2\n", "a.mtx");
    CHECK(symmetric.values == std::vector<double>{4});
}

TEST_CASE("a symmetric array of one row is a vector") {
    CHECK(vector_of("%%MatrixMarket matrix array real symmetric\n1 1\n5\n") ==
          std::vector<double>{5});
    CHECK(vector_refusal("%%MatrixMarket matrix array real symmetric\n2 2\n5\n1\n2\n")
              .find("allowed is a vector") != std::string::npos);
}

TEST_CASE("a vector may give its length alone, with a banner or without") {
    const std::vector<double> expected{1, -2.5, 3};
    CHECK(vector_of("%%MatrixMarket matrix array real general\n% made\n3\n1\n-2.5\n3\n") ==
          expected);
    CHECK(vector_of("3\n1\n-2.5\n3\n") == expected);
    CHECK(vector_of("3\r\n1\r\n-2.5\r\n3\r\n") == expected);
    // A list without its length is never read as a shorter one with it.
    CHECK(vector_refusal("3\n1\n2\n").find("after 2 entries, allowed are the 3") !=
          std::string::npos);
    CHECK(vector_refusal("1\n1\n2\n").find("entry 2, allowed are the 1") != std::string::npos);
    CHECK(vector_refusal("1.5\n1\n2\n").find("no banner but \"1.5\"") != std::string::npos);
    CHECK(vector_refusal("2 2\n1\n2\n").find("no banner") != std::string::npos);
    CHECK(vector_refusal("99999999999\n1\n").find("number of rows is \"99999999999\"") !=
          std::string::npos);
    const auto matrix_refusal = message_of<krylith::input_error>(
        [] { (void)parse_matrix_market<double>("3\n1\n2\n3\n", "a.mtx"); });
    CHECK(matrix_refusal.find("no banner") != std::string::npos);
}
