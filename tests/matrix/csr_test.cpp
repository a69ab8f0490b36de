#include <krylith/matrix/csr.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace {

using krylith::csr_matrix;

// 1 0 2
// 0 0 0
// 0 3 4
csr_matrix<double> example() {
    return {3, 3, {0, 2, 2, 4}, {0, 2, 1, 2}, {1, 2, 3, 4}};
}

std::string validation_refusal(const csr_matrix<double>& matrix) {
    return krylith::test::message_of<krylith::input_error>([&] { validate(matrix); });
}

void check_invalid(const csr_matrix<double>& matrix, const std::string& what) {
    const std::string message = validation_refusal(matrix);
    INFO(message);
    CHECK(message.find(what) != std::string::npos);
    CHECK(message.find("allowed") != std::string::npos);
}

} // namespace

TEST_CASE("a valid CSR matrix is accepted, an empty one too") {
    CHECK_NOTHROW(validate(example()));
    CHECK_NOTHROW(validate(csr_matrix<double>{}));
    CHECK_NOTHROW(validate(csr_matrix<float>{0, 5, {0}, {}, {}}));
    CHECK_NOTHROW(validate(csr_matrix<float>{2, 0, {0, 0, 0}, {}, {}}));
}

TEST_CASE("validate names the first offence of a CSR matrix") {
    auto matrix = example();
    SUBCASE("negative rows") {
        matrix.rows = -1;
        check_invalid(matrix, "rows is -1");
    }
    SUBCASE("negative columns") {
        matrix.columns = -2;
        check_invalid(matrix, "columns is -2");
    }
    SUBCASE("columns beyond 32 bits") {
        matrix.columns = std::int64_t{1} << 31;
        check_invalid(matrix, "columns is 2147483648");
    }
    SUBCASE("too few offsets") {
        matrix.row_offsets.pop_back();
        check_invalid(matrix, "row_offsets has 3 entries");
    }
    SUBCASE("no offsets") {
        matrix.row_offsets.clear();
        check_invalid(matrix, "row_offsets has 0 entries");
    }
    SUBCASE("more rows than any offsets can have") {
        matrix.rows = std::numeric_limits<std::int64_t>::max();
        check_invalid(matrix, "row_offsets has 4 entries");
    }
    SUBCASE("values missing") {
        matrix.values.pop_back();
        check_invalid(matrix, "values has 3 entries");
    }
    SUBCASE("first offset") {
        matrix.row_offsets.front() = 1;
        check_invalid(matrix, "row_offsets[0] is 1");
    }
    SUBCASE("last offset") {
        matrix.row_offsets.back() = 5;
        check_invalid(matrix, "row_offsets[3] is 5");
    }
    SUBCASE("descending offsets, before columns are looked up by them") {
        matrix.row_offsets = {0, 100, 2, 4};
        check_invalid(matrix, "row 1 starts at 100 and ends at 2");
    }
    SUBCASE("column too large") {
        matrix.column_indices[2] = 3;
        check_invalid(matrix, "column_indices[2], in row 2, is 3");
    }
    SUBCASE("column negative, the first of two") {
        matrix.column_indices[1] = -7;
        matrix.column_indices[3] = 9;
        check_invalid(matrix, "column_indices[1], in row 0, is -7");
    }
}

TEST_CASE("the first of many offences is named, whichever thread finds it") {
    const std::size_t n = 100000;
    csr_matrix<double> matrix{
        1, 1, {0, n}, std::vector<std::int32_t>(n, 0), std::vector<double>(n, 1)};
    for (const std::size_t k : {11U, 12U, 40000U, 99999U}) {
        matrix.column_indices[k] = static_cast<std::int32_t>(k);
    }
    check_invalid(matrix, "column_indices[11], in row 0, is 11,");
    matrix.rows = static_cast<std::int64_t>(n);
    matrix.row_offsets.assign(n + 1, n);
    matrix.row_offsets[0] = 0;
    matrix.row_offsets[21] = 5;
    matrix.row_offsets[23] = 6;
    check_invalid(matrix, "row 20 starts at 100000 and ends at 5");
}

TEST_CASE("canonical means strictly ascending columns") {
    auto matrix = example();
    CHECK(canonical(matrix));
    CHECK(canonical(csr_matrix<double>{}));
    SUBCASE("descending") {
        matrix.column_indices = {2, 0, 1, 2};
        CHECK_FALSE(canonical(matrix));
    }
    SUBCASE("duplicate, in the last row") {
        matrix.column_indices = {0, 2, 2, 2};
        CHECK_FALSE(canonical(matrix));
    }
}

TEST_CASE("diagonal is 0 where no entry is, and has the length of the shorter side") {
    CHECK(diagonal(example()) == std::vector<double>{1, 0, 4});
    const csr_matrix<double> wide{1, 3, {0, 2}, {0, 2}, {5, 6}};
    CHECK(diagonal(wide) == std::vector<double>{5});
    const csr_matrix<float> tall{3, 1, {0, 0, 1, 2}, {0, 0}, {5, 6}};
    CHECK(diagonal(tall) == std::vector<float>{0});
    const csr_matrix<double> twice{1, 1, {0, 2}, {0, 0}, {5, 6}};
    CHECK(diagonal(twice) == std::vector<double>{11});
}

TEST_CASE("a view reads the arrays of its owner and is refused like a matrix") {
    const std::vector<std::int64_t> offsets{0, 2, 2, 4};
    std::vector<std::int32_t> columns{0, 2, 1, 2};
    std::vector<double> values{1, 2, 3, 4};
    const krylith::csr_view<double> view(3, 3, offsets, columns, values);
    CHECK_NOTHROW(validate(view));
    CHECK(canonical(view));
    values[3] = 7; // the arrays are not copied
    CHECK(diagonal(view) == std::vector<double>{1, 0, 7});
    columns[1] = 3;
    const std::string message =
        krylith::test::message_of<krylith::input_error>([&] { validate(view); });
    CHECK_MESSAGE(message.find("column_indices[1], in row 0, is 3") != std::string::npos, message);
}
