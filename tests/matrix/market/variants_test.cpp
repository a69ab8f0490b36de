// Every variant of the format that is accepted, on matrices small enough to read.
#include <krylith/matrix/matrix_market.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace {

using krylith::test::dense;

krylith::csr_matrix<double> parse(const std::string& text) {
    auto matrix = krylith::parse_matrix_market<double>(text, "text.mtx");
    validate(matrix);
    CHECK(canonical(matrix));
    return matrix;
}

dense read_dense(const std::string& text) {
    return krylith::test::to_dense(parse(text));
}

/// The value that the word stands for, as the only entry of a matrix.
template <class T>
T value_of(const std::string& word, const std::string& field = "real") {
    const auto matrix = krylith::parse_matrix_market<T>(
        "%%MatrixMarket matrix coordinate " + field + " general\n1 1 1\n1 1 " + word + "\n",
        "value.mtx");
    REQUIRE(matrix.nnz() == 1);
    return matrix.values[0];
}

} // namespace

TEST_CASE("coordinate: fields and symmetries") {
    CHECK(read_dense(
              "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1.5\n2 3 -2\n1 2 .5\n") ==
          dense{{1.5, .5, 0}, {0, 0, -2}});
    CHECK(read_dense("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -3\n2 1 +4\n") ==
          dense{{0, -3}, {4, 0}});
    CHECK(read_dense("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n") ==
          dense{{0, 1}, {0, 1}});
    CHECK(read_dense(
              "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 4\n") ==
          dense{{1, 0, 2}, {0, 0, 4}, {2, 4, 0}});
    CHECK(read_dense("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 2\n2 2 4\n") ==
          dense{{0, 2}, {2, 4}});
    CHECK(read_dense("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n") ==
          dense{{0, 1}, {1, 1}});
    CHECK(read_dense(
              "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n3 2 -1\n") ==
          dense{{0, -5, 0}, {5, 0, 1}, {0, -1, 0}});
    CHECK(read_dense("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n1 2 5\n") ==
          dense{{0, 5}, {-5, 0}});
}

TEST_CASE("what MUMPS, SciPy and AmgX write") {
    using krylith::test::golden;
    using krylith::test::golden_matrix;
    const auto load = [](const char* name) { return krylith::load_matrix<double>(golden(name)); };
    CHECK(load("mumps.mtx") == golden_matrix<double>());
    CHECK(load("amgx.mtx") == golden_matrix<double>());
    CHECK(load("amgx_base0.mtx") == golden_matrix<double>());
    CHECK(krylith::test::to_dense(load("unsigned.mtx")) == dense{{4, 1, 0}, {1, 3, 0}, {0, 0, 2}});
    CHECK(krylith::test::to_dense(load("dense_symmetric.mtx")) ==
          dense{{4, -1, 0}, {-1, 4, -1.5}, {0, -1.5, 4}});
    const krylith::test::temporary_folder folder;
    const auto b = folder.write("b.rhs", " %%MatrixMarket matrix array real general\n"
                                         "           2           1\n  1.5000000000000000     \n"
                                         "  -2.0000000000000000     \n");
    CHECK(krylith::load_vector<double>(b.string()) == std::vector<double>{1.5, -2});
}

TEST_CASE("options of AmgX: from 0, vectors behind the entries, in any case and order") {
    const std::string real = "%%MatrixMarket matrix coordinate real ";
    const dense expected = {{4, 0}, {1, 5}};
    CHECK(read_dense(real + "general\n%%AMGX base0\n2 2 3\n0 0 4\n1 0 1\n1 1 5\n") == expected);
    CHECK(read_dense(real + "general\n% a\n %%nvamg 2 2 SORTED RHS Base0 \n2 2 3\n0 0 4\n1 0 1\n"
                            "1 1 5\n% RHS\n2\n7\n8\n") == expected);
    CHECK(read_dense(real +
                     "general\n%%AMGX solution\n2 2 3\n1 1 4\n2 1 1\n2 2 5\n7.5\n1 1 1\nx\n") ==
          expected);
    CHECK(read_dense(real + "symmetric\n%%AMGX base0\n2 2 1\n1 0 3\n") == dense{{0, 3}, {3, 0}});
    // Another's comment is a comment.
    CHECK(read_dense(real + "general\n% AMGX base0\n2 2 1\n2 2 1\n") == dense{{0, 0}, {0, 1}});
}

TEST_CASE("array: column by column, the symmetric ones from the diagonal down") {
    CHECK(read_dense("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n") ==
          dense{{1, 3, 5}, {2, 4, 6}});
    CHECK(read_dense("%%MatrixMarket matrix array integer general\n1 2\n-1\n7\n") ==
          dense{{-1, 7}});
    CHECK(read_dense("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n") ==
          dense{{1, 2, 3}, {2, 4, 5}, {3, 5, 6}});
    CHECK(read_dense("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n") ==
          dense{{0, -1, -2}, {1, 0, -3}, {2, 3, 0}});
    const auto sparse = parse("%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n4\n");
    CHECK(sparse.nnz() == 2);
    CHECK(krylith::test::to_dense(sparse) == dense{{1, 0}, {0, 4}});
}

TEST_CASE("a symmetric matrix may be given by its upper half, or a mixture of halves") {
    const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n";
    const dense expected{{1, 2, 3, 0}, {2, 0, 4, 5}, {3, 4, 6, 7}, {0, 5, 7, 8}};
    CHECK(read_dense(banner + "4 4 8\n1 1 1\n2 1 2\n3 1 3\n3 2 4\n4 2 5\n3 3 6\n4 3 7\n4 4 8\n") ==
          expected);
    CHECK(read_dense(banner + "4 4 8\n1 1 1\n1 2 2\n1 3 3\n2 3 4\n2 4 5\n3 3 6\n3 4 7\n4 4 8\n") ==
          expected);
    CHECK(read_dense(banner + "4 4 8\n4 4 8\n1 2 2\n3 1 3\n2 3 4\n4 2 5\n3 3 6\n3 4 7\n1 1 1\n") ==
          expected);
    CHECK(
        read_dense("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n1 2 2\n3 1 3\n3 2 "
                   "4\n") == dense{{0, 2, -3}, {-2, 0, -4}, {3, 4, 0}});
}

TEST_CASE("layout of the text: case, comments, blanks, line ends") {
    const dense expected{{1, 0}, {0, 2}};
    CHECK(read_dense("%%MATRIXMARKET MATRIX COORDINATE REAL GENERAL\n2 2 2\n1 1 1\n2 2 2\n") ==
          expected);
    CHECK(read_dense("%%matrixmarket Matrix Coordinate Real General\n2 2 2\n1 1 1\n2 2 2\n") ==
          expected);
    CHECK(
        read_dense("%%MatrixMarket  matrix\tcoordinate real   general  \n2 2 2\n1 1 1\n2 2 2\n") ==
        expected);
    CHECK(read_dense(
              "%%MatrixMarket matrix coordinate real general\n% one\n%\n\n  \t\n  % two\n2 2 2\n"
              "1 1 1\n\n\t\n   \n2 2 2\n\n\n") == expected);
    CHECK(read_dense(
              "%%MatrixMarket matrix coordinate real general\r\n% c\r\n\r\n2 2 2\r\n1 1 1\r\n\r\n"
              "2 2 2\r\n") == expected);
    CHECK(read_dense("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2") ==
          expected);
    CHECK(
        read_dense("%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n1 1 1\r\n2 2 2\r") ==
        expected);
    CHECK(read_dense(
              "%%MatrixMarket matrix coordinate real general\n \t2  2\t2  \n\t1 1  1\t\n   2 \t2 "
              "2   \n") == expected);
    CHECK(
        read_dense("%%MatrixMarket matrix coordinate real general\n02 2 002\n01 1 1\n2 002 2\n") ==
        expected);
    CHECK(read_dense("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1  \n2 2") ==
          dense{{1, 0}, {0, 1}});
}

TEST_CASE("entries in any order; duplicates are summed; explicit zeros are kept") {
    const auto matrix = parse("%%MatrixMarket matrix coordinate real general\n"
                              "3 3 7\n3 3 9\n1 2 1\n3 1 7\n1 2 2\n2 2 0\n1 2 4\n1 1 5\n");
    CHECK(matrix.nnz() == 5);
    CHECK(krylith::test::to_dense(matrix) == dense{{5, 7, 0}, {0, 0, 0}, {7, 0, 9}});
    CHECK(matrix.row_offsets == std::vector<std::int64_t>{0, 2, 3, 5});

    const auto symmetric = parse("%%MatrixMarket matrix coordinate real symmetric\n"
                                 "3 3 5\n2 1 1\n1 1 3\n2 1 2\n1 1 1\n2 2 0\n");
    CHECK(symmetric.nnz() == 4);
    CHECK(krylith::test::to_dense(symmetric) == dense{{4, 3, 0}, {3, 0, 0}, {0, 0, 0}});

    CHECK(read_dense("%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 1\n1 1\n") ==
          dense{{2, 0}});
}

TEST_CASE("a zero on the diagonal of a skew-symmetric matrix is no contradiction") {
    const auto matrix = parse("%%MatrixMarket matrix coordinate real skew-symmetric\n"
                              "2 2 2\n1 1 0.0\n2 1 3\n");
    CHECK(krylith::test::to_dense(matrix) == dense{{0, -3}, {3, 0}});
    CHECK(matrix.nnz() == 3);
}

TEST_CASE("empty matrices") {
    const std::string banner = "%%MatrixMarket matrix coordinate real ";
    CHECK(parse(banner + "general\n0 0 0\n") == krylith::csr_matrix<double>{});
    CHECK(parse(banner + "symmetric\n0 0 0") == krylith::csr_matrix<double>{});
    CHECK(parse(banner + "general\n2 0 0\n").rows == 2);
    CHECK(parse(banner + "general\n0 2 0\n").columns == 2);
    CHECK(read_dense(banner + "general\n2 3 0\n\n \n") == dense{{0, 0, 0}, {0, 0, 0}});
    CHECK(parse("%%MatrixMarket matrix array real general\n0 0\n") ==
          krylith::csr_matrix<double>{});
    CHECK(parse("%%MatrixMarket matrix array real general\n0 2147483647\n").columns == 2147483647);
    CHECK(parse("%%MatrixMarket matrix array real skew-symmetric\n0 0\n").rows == 0);
    CHECK(read_dense("%%MatrixMarket matrix array real skew-symmetric\n1 1\n") == dense{{0}});
}

TEST_CASE("numbers are rounded to the nearest, however they are spelled") {
    CHECK(value_of<double>("1") == 1.0);
    CHECK(value_of<double>("+1.5") == 1.5);
    CHECK(value_of<double>("-.5") == -0.5);
    CHECK(value_of<double>("5.") == 5.0);
    CHECK(value_of<double>("0.1") == 0.1);
    CHECK(value_of<double>("1E3") == 1000.0);
    CHECK(value_of<double>("1e+03") == 1000.0);
    CHECK(value_of<double>("1.7976931348623157e308") == std::numeric_limits<double>::max());
    CHECK(value_of<double>("4.9406564584124654e-324") == std::numeric_limits<double>::denorm_min());
    CHECK(std::signbit(value_of<double>("-0")));
    // The value is halfway between two doubles but for the last digit, which decides.
    CHECK(value_of<double>("1.00000000000000011102230246251565404236316680908203126") ==
          1.0000000000000002);
    CHECK(value_of<double>("1.00000000000000011102230246251565404236316680908203124") == 1.0);
    // The value is rounded once: by way of a double this would become 1.
    CHECK(value_of<float>("1.00000005960464477540000") == 1.00000012F);
    CHECK(value_of<float>("3.4028234e38") == std::numeric_limits<float>::max());
    CHECK(value_of<double>("9007199254740993", "integer") == 9007199254740992.0);
    CHECK(value_of<double>("-123456789012345678901234567890", "integer") ==
          -123456789012345678901234567890.0);
}

TEST_CASE("Fortran exponents are read, not cut off") {
    CHECK(value_of<double>("1.5D3") == 1500.0);
    CHECK(value_of<double>("1.5d+03") == 1500.0);
    CHECK(value_of<double>("-2.5D-01") == -0.25);
    CHECK(value_of<double>("+.25D1") == 2.5);
    CHECK(value_of<float>("1D-2") == 0.01F);
    CHECK(value_of<double>("0.123456789012345678901234567890123456789D+01") ==
          1.23456789012345678901234567890123456789);
}

TEST_CASE("magnitudes too small for the type become zero") {
    for (const char* word :
         {"1e-400", "0.0000001e-320", "1e-99999999999999999999", "1D-400", "123e-400", "-1e-400"}) {
        CAPTURE(word);
        CHECK(value_of<double>(word) == 0.0);
    }
    CHECK(std::signbit(value_of<double>("-1e-400")));
    CHECK(value_of<float>("1e-60") == 0.0F);
    CHECK(value_of<double>(std::string("0.") + std::string(400, '0') + "1e401") == 1.0);
    CHECK(value_of<double>(std::string("0.") + std::string(400, '0') + "1") == 0.0);
}

TEST_CASE("a number behind the entry of a pattern file is ignored") {
    CHECK(read_dense("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2 5\n2 2 0\n") ==
          dense{{0, 1}, {0, 1}});
}

TEST_CASE("vectors: arrays and coordinates of one column") {
    const auto vector = [](const std::string& text) {
        return krylith::parse_vector_market<double>(text, "vector.mtx");
    };
    CHECK(vector("%%MatrixMarket matrix array real general\n3 1\n1\n0\n-2.5\n") ==
          std::vector<double>{1, 0, -2.5});
    CHECK(vector("%%MatrixMarket matrix array integer general\n2 1\n1\n-2\n") ==
          std::vector<double>{1, -2});
    CHECK(vector("%%MatrixMarket matrix coordinate real general\n4 1 3\n3 1 5\n1 1 2\n3 1 1\n") ==
          std::vector<double>{2, 0, 6, 0});
    CHECK(vector("%%MatrixMarket matrix coordinate pattern general\n3 1 1\n2 1\n") ==
          std::vector<double>{0, 1, 0});
    CHECK(vector("%%MatrixMarket matrix array real general\n0 1\n").empty());
    CHECK(krylith::parse_vector_market<float>("%%MatrixMarket matrix array real general\n1 1\n.1\n",
                                              "f.mtx") == std::vector<float>{0.1F});
}
