// Malformed files: each is refused with an input_error that names file, line, finding and remedy.
#include <krylith/matrix/matrix_market.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/tests/matrix/support/market.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace {

using namespace std::string_literals;
using krylith::test::vector_refusal;
using krylith::test::banner::array;
using krylith::test::banner::real;

struct defect {
    const char* name;
    std::string text;
    int line;
    std::string found; ///< the text that the message must show
};

const std::string integer = "%%MatrixMarket matrix coordinate integer general\n";
const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";

std::vector<defect> banners() {
    return {
        {"empty file", "", 1, "empty"},
        {"blank file", "\n\n", 1, "no banner"},
        {"no banner", "2 2 1\n1 1 1\n", 1, "\"2 2 1\""},
        {"banner on line 2", "\n" + real + "1 1 0\n", 1, "no banner but \"\""},
        {"blanks before a misspelt banner", " %%MatrixMarkt matrix coordinate real general\n", 1,
         "\" %%MatrixMarkt"},
        {"one percent sign", "%MatrixMarket matrix coordinate real general\n1 1 0\n", 1,
         "\"%MatrixMarket"},
        {"misspelt banner", "%%MatrixMarkt matrix coordinate real general\n1 1 0\n", 1,
         "\"%%MatrixMarkt"},
        {"UTF-8 byte order mark", "\xef\xbb\xbf" + real + "1 1 0\n", 1, "byte order mark"},
        {"UTF-16", "\xff\xfe%\0%\0"s, 1, "UTF-16"},
        {"CR alone", "%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 5\r", 1, "CR"},
        {"banner cut off", "%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, "4 words"},
        {"banner of one word", "%%MatrixMarket", 1, "1 words"},
        {"banner too long", "%%MatrixMarket matrix coordinate real general more\n1 1 0\n", 1,
         "6 words"},
        {"vector object", "%%MatrixMarket vector coordinate real general\n1 1 0\n", 1,
         "object is \"vector\""},
        {"unknown format", "%%MatrixMarket matrix sparse real general\n1 1 0\n", 1,
         "format is \"sparse\""},
        {"complex", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", 1,
         "field is \"complex\""},
        {"complex array", "%%MatrixMarket matrix array complex general\n1 1\n1 0\n", 1,
         "field is \"complex\""},
        {"unknown field", "%%MatrixMarket matrix coordinate double general\n1 1 0\n", 1,
         "field is \"double\""},
        {"hermitian", "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", 1,
         "symmetry is \"hermitian\""},
        {"unknown symmetry", "%%MatrixMarket matrix coordinate real lower\n1 1 0\n", 1,
         "symmetry is \"lower\""},
        {"pattern array", "%%MatrixMarket matrix array pattern general\n1 1\n", 1, "pattern array"},
        {"skew pattern", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 0\n", 1,
         "skew-symmetric pattern"},
        {"NUL in the banner", "%%MatrixMarket matrix coordinate real general\0\n1 1 0\n"s, 1,
         "\\x00"},
    };
}

std::vector<defect> sizes() {
    return {
        {"no size line", real, 2, "ends before its size line"},
        {"only comments", real + "% a\n% b\n", 4, "ends before its size line"},
        {"two sizes", real + "3 3\n1 1 1\n", 2, "\"3 3\""},
        {"four sizes", real + "3 3 1 1\n1 1 1\n", 2, "4 words"},
        {"three sizes of an array", array + "3 1 3\n1\n2\n3\n", 2, "3 words"},
        {"one size of an array", array + "3\n1\n2\n3\n", 2, "1 words"},
        {"negative rows", real + "-3 3 0\n", 2, "rows is \"-3\""},
        {"negative columns", real + "3 -3 0\n", 2, "columns is \"-3\""},
        {"negative entries", real + "3 3 -1\n", 2, "entries is \"-1\""},
        {"rows beyond 32 bits", real + "2147483648 1 0\n", 2, "rows is \"2147483648\""},
        {"columns beyond 32 bits", real + "% c\n1 4294967297 0\n", 3, "columns is \"4294967297\""},
        {"entries beyond 64 bits", real + "3 3 18446744073709551617\n", 2,
         "entries is \"18446744073709551617\""},
        {"rows not whole", real + "3.0 3 0\n", 2, "rows is \"3.0\""},
        {"rows no number", real + "n 3 0\n", 2, "rows is \"n\""},
        {"columns with a comma", real + "3 3, 0\n", 2, "columns is \"3,\""},
        {"sizes with a plus sign", real + "+3 3 0\n", 2, "rows is \"+3\""},
        {"size line with CR alone", real + "1 1 1\r1 1 5\r", 2, "\\x0d"},
        {"symmetric, not square", symmetric + "3 4 0\n", 2, "3 rows and 4 columns"},
        {"skew, not square", skew + "4 3 0\n", 2, "4 rows and 3 columns"},
        {"symmetric array, not square", "%%MatrixMarket matrix array real symmetric\n2 3\n1\n", 2,
         "2 rows and 3 columns"},
        {"more entries than places, cut off", real + "2 3 7\n1 1 1\n", 3,
         "after 1 entries, allowed are the 7"},
        {"entries of an empty matrix", real + "0 0 1\n1 1 1\n", 2, "1 entries in 0 rows"},
        {"entries of a matrix without columns", real + "5 0 1\n1 1 1\n", 2, "allowed are 0"},
        {"more entries than any file has", real + "3 3 4611686018427387905\n1 1 1\n", 2,
         "entries is \"4611686018427387905\""},
        {"NUL in the size line", real + "1 1\0 0\n"s, 2, "NUL"},
        {"AmgX's diagonal", real + "%%AMGX 1 1 sorted diagonal\n2 2 0\n1\n1\n", 2,
         "AmgX's option \"diagonal\" says that the diagonal follows the entries"},
        {"NUL in a comment", real + "% \0\n1 1 0\n"s, 2, "NUL"},
    };
}

std::vector<defect> counts() {
    return {
        {"no entries", real + "2 2 2\n", 2, "after 0 entries, allowed are the 2"},
        {"an entry too few", real + "2 2 2\n1 1 1\n", 3, "after 1 entries"},
        {"an entry too few, blank lines", real + "2 2 2\n1 1 1\n\n\n", 5, "after 1 entries"},
        {"a value too few", array + "3 1\n1\n2\n", 4, "after 2 entries, allowed are the 3"},
        {"an entry too many", real + "2 2 1\n1 1 1\n\n2 2 2\n", 5, "\"2 2 2\" entry 2"},
        {"an entry where none is declared", real + "2 2 0\n1 1 1\n", 3, "entry 1"},
        {"a value too many", array + "2 1\n1\n2\n3\n", 5, "\"3\" entry 3"},
        {"declared beyond any memory", real + "2147483647 2147483647 1000000000000000000\n1 1 1\n",
         3, "after 1 entries, allowed are the 1000000000000000000"},
        {"declared beyond any memory, of few rows", real + "9 2147483647 19000000000\n1 1 1\n", 3,
         "after 1 entries, allowed are the 19000000000"},
        {"an array beyond any memory", array + "2147483647 2147483647\n1\n", 3, "after 1 entries"},
        {"rows beyond what the entries vouch for", real + "2147483647 2147483647 1\n1 1 1\n", 2,
         "2147483647 rows for 1 entries"},
        {"rows of an empty matrix beyond measure", real + "16777217 1 0\n", 2, "16777217 rows"},
        {"a vector of AmgX in place of entries", real + "%%AMGX rhs\n1 1 2\n1 1 5\n1\n", 5,
         "in \"1\" no column"},
        {"a vector that AmgX's options don't name", real + "%%AMGX sorted\n1 1 1\n1 1 5\n1\n", 5,
         "\"1\" entry 2"},
        {"skew array with the diagonal",
         "%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n1\n0\n", 4, "entry 2"},
    };
}

std::vector<defect> entries() {
    return {
        {"row 0", real + "2 2 1\n0 1 1\n", 3,
         "the row is \"0\", allowed are whole numbers from 1 to 2"},
        {"column 0", real + "2 2 1\n1 0 1\n", 3, "the column is \"0\""},
        {"row too large from 0", real + "%%AMGX base0\n2 3 1\n2 0 1\n", 4,
         "the row is \"2\", allowed are whole numbers from 0 to 1"},
        {"no column from 0", real + "%%AMGX base0\n2 3 1\n1\n", 4, "no column"},
        {"both halves from 0",
         "%%MatrixMarket matrix coordinate real symmetric\n%%amgx base0\n2 2 2\n1 0 2\n0 1 2\n", 5,
         "both (0, 1) and (1, 0) (lines 4 and 5)"},
        {"row too large", real + "2 3 2\n1 1 1\n3 1 1\n", 4, "the row is \"3\""},
        {"column too large", real + "2 3 1\n1 4 1\n", 3,
         "the column is \"4\", allowed are whole numbers from 1 to 3"},
        {"row negative", real + "2 2 1\n-1 1 1\n", 3, "the row is \"-1\""},
        {"row overflows", real + "2 2 1\n4294967297 1 1\n", 3, "the row is \"4294967297\""},
        {"row overflows 64 bits", real + "2 2 1\n18446744073709551617 1 1\n", 3,
         "the row is \"18446744073709551617\""},
        {"row not whole", real + "2 2 1\n1.0 1 1\n", 3, "the row is \"1.0\""},
        {"column not whole", real + "2 2 1\n1 1. 1\n", 3, "the column is \"1.\""},
        {"row a word", real + "2 2 1\nx 1 1\n", 3, "the row is \"x\""},
        {"row with exponent", real + "20 2 1\n1e1 1 1\n", 3, "the row is \"1e1\""},
        {"no column", real + "2 2 1\n1\n", 3, "no column"},
        {"no value", real + "2 2 1\n1 1\n", 3, "no value"},
        {"no value at the end of the text", real + "2 2 1\n1 1", 3, "no value"},
        {"value a word", real + "2 2 1\n1 1 one\n", 3, "the value is \"one\""},
        {"a lone sign", real + "2 2 1\n1 1 -\n", 3, "the value is \"-\""},
        {"two signs", real + "2 2 1\n1 1 +-1\n", 3, "the value is \"+-1\""},
        {"a lone point", real + "2 2 1\n1 1 .\n", 3, "the value is \".\""},
        {"exponent cut off", real + "2 2 1\n1 1 1e\n", 3, "the value is \"1e\""},
        {"Fortran exponent cut off", real + "2 2 1\n1 1 1D+\n", 3, "the value is \"1D+\""},
        {"exponent without a letter", real + "2 2 1\n1 1 1.5+300\n", 3, "the value is \"1.5+300\""},
        {"hexadecimal", real + "2 2 1\n1 1 0x1p3\n", 3, "the value is \"0x1p3\""},
        {"decimal comma", real + "2 2 1\n1 1 1,5\n", 3, "the value is \"1,5\""},
        {"thousands", real + "2 2 1\n1 1 1_000\n", 3, "the value is \"1_000\""},
        {"nan", real + "2 2 1\n1 1 nan\n", 3, "the value is \"nan\", allowed are finite"},
        {"NaN with a payload", real + "2 2 1\n1 1 NaN(1)\n", 3, "NaN(1)"},
        {"inf", real + "2 2 1\n1 1 inf\n", 3, "the value is \"inf\", allowed are finite"},
        {"-Infinity", real + "2 2 1\n1 1 -Infinity\n", 3, "\"-Infinity\", allowed are finite"},
        {"overflow", real + "2 2 1\n1 1 1e400\n", 3,
         "\"1e400\", allowed are magnitudes up to 1.7976931348623157e+308"},
        {"negative overflow", real + "2 2 1\n1 1 -1e400\n", 3, "\"-1e400\""},
        {"overflow with a Fortran exponent", real + "2 2 1\n1 1 1D400\n", 3, "\"1D400\""},
        {"absurd exponent", real + "2 2 1\n1 1 1e99999999999999999999\n", 3,
         "\"1e99999999999999999999\""},
        {"overflow without exponent", integer + "1 1 1\n1 1 1" + std::string(400, '0') + "\n", 3,
         "allowed are magnitudes up to"},
        {"trailing number", real + "2 2 1\n1 1 1 2\n", 3, "text after the entry: \"2\""},
        {"trailing comment", real + "2 2 1\n1 1 1 % x\n", 3, "text after the entry: \"%\""},
        {"comment before the entries", real + "2 2 1\n% x\n1 1 1\n", 3,
         "\"% x\" a comment among the entries"},
        {"comment between entries", real + "2 2 2\n1 1 1\n  %\n2 2 2\n", 4, "comment"},
        {"comment behind the entries", real + "2 2 1\n1 1 1\n%\n", 4, "comment"},
        {"comment in an array", array + "2 1\n1\n% x\n2\n", 4, "comment"},
        {"two entries in a line", real + "2 2 2\n1 1 1 2 2 2\n", 3, "text after the entry: \"2\""},
        {"two values in a line", array + "2 1\n1 2\n", 3, "text after the entry: \"2\""},
        {"array value with indices", array + "1 1\n1 1 5\n", 3, "text after the entry: \"1\""},
        {"array value a word", array + "2 1\n1\ntwo\n", 4, "the value is \"two\""},
        {"CR inside a line", real + "2 2 2\n1 1 1\r2 2 2\n", 3, "\\x0d"},
        {"fraction in an integer file", integer + "2 2 1\n1 1 1.5\n", 3,
         "the value is \"1.5\", allowed is a whole number"},
        {"exponent in an integer file", integer + "2 2 1\n1 1 1e3\n", 3, "\"1e3\""},
        {"a negative number in an unsigned file",
         "%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 -1\n", 3,
         "the value is \"-1\", allowed are 0 and more"},
        {"sign alone in an integer file", integer + "2 2 1\n1 1 -\n", 3, "the value is \"-\""},
        {"no value in an integer file", integer + "2 2 1\n1 1\n", 3, "no value"},
        {"word behind a pattern entry", pattern + "2 2 1\n1 1 x\n", 3, "\"x\""},
        {"two numbers behind a pattern entry", pattern + "2 2 1\n1 1 1 1\n", 3,
         "text after the entry: \"1\""},
        {"both halves", symmetric + "3 3 4\n1 1 1\n2 1 2\n3 1 4\n1 2 2\n", 6,
         "both (1, 2) and (2, 1) (lines 4 and 6)"},
        {"both halves, upper first", symmetric + "3 3 4\n1 3 1\n\n1 2 2\n3 3 4\n3 1 1\n", 7,
         "both (1, 3) and (3, 1) (lines 3 and 7)"},
        {"both halves, skew", skew + "2 2 2\n2 1 2\n1 2 -2\n", 4, "both (1, 2) and (2, 1)"},
        {"duplicates with an infinite sum", real + "2 2 3\n2 2 1\n1 2 1e308\n1 2 1e308\n", 4,
         "the entries of (1, 2) add up to infinity"},
        {"diagonal of a skew matrix", skew + "2 2 2\n2 1 3\n2 2 1e-9\n", 4,
         "the value is \"1e-9\", allowed is 0 on the diagonal"},
        {"NUL in an entry", real + "2 2 2\n1 1 1\n2 \0 2\n"s, 4, "in \"2 \\x00 2\" a NUL byte"},
        {"NUL behind the entries", real + "2 2 1\n1 1 1\n\0\0\0\n"s, 4, "NUL"},
        {"binary", real + "2 2 1\n\x80\xff\x01\n", 3, "\"\\x80\\xff\\x01\""},
        {"the first of two flaws", real + "2 2 2\n3 1 1\n1 1 nan\n", 3, "the row is \"3\""},
        {"a flaw before a surplus", real + "2 2 1\nx 1 1\n1 1 1\n", 3, "the row is \"x\""},
        {"a flaw before a shortage", real + "3 3 9\n1 1 1\n1 x 1\n", 4, "the column is \"x\""},
        {"a long line is shortened", real + "2 2 1\n1 1 1" + std::string(100, 'x') + "\n", 3,
         "xxx...\""},
    };
}

void check_defects(const std::vector<defect>& defects) {
    for (const defect& d : defects) {
        CAPTURE(d.name);
        const std::string message = krylith::test::message_of<krylith::input_error>([&] {
            static_cast<void>(krylith::parse_matrix_market<double>(
                d.text, "folder/case.mtx", {.memory = std::int64_t{1} << 30}));
        });
        CAPTURE(message);
        const std::string place = "folder/case.mtx:" + std::to_string(d.line) + ": ";
        CHECK(message.substr(0, place.size()) == place);
        CHECK(message.find(d.found) != std::string::npos);
        CHECK(message.find("allowed") != std::string::npos);
        CHECK(message.size() < 400);
    }
}

} // namespace

TEST_CASE("malformed banners are refused") {
    check_defects(banners());
}

TEST_CASE("malformed size lines are refused") {
    check_defects(sizes());
}

TEST_CASE("files with other entries than declared are refused, without allocating for them") {
    check_defects(counts());
}

TEST_CASE("malformed entries are refused") {
    check_defects(entries());
}

TEST_CASE("the tables hold at least the 60 malformed inputs that were promised, all different") {
    std::set<std::string> texts;
    for (const auto& table : {banners(), sizes(), counts(), entries()}) {
        for (const defect& d : table) {
            CAPTURE(d.name);
            CHECK(texts.insert(d.text).second);
        }
    }
    CHECK(texts.size() >= 60);
}

TEST_CASE("values that don't fit in fp32 are refused there alone") {
    const std::string text = real + "1 1 1\n1 1 1e39\n";
    CHECK_NOTHROW(static_cast<void>(krylith::parse_matrix_market<double>(text, "x.mtx")));
    const std::string message = krylith::test::message_of<krylith::input_error>(
        [&] { static_cast<void>(krylith::parse_matrix_market<float>(text, "x.mtx")); });
    CHECK(message.find("x.mtx:3: ") == 0);
    CHECK(message.find("\"1e39\", allowed are magnitudes up to 3.402823") != std::string::npos);
}

TEST_CASE("what is not a vector is refused as one") {
    CHECK(vector_refusal(array + "1 3\n1\n2\n3\n")
              .find("v.mtx:2: a general matrix of 1 rows and 3") == 0);
    CHECK(vector_refusal(real + "3 2 0\n").find("v.mtx:2: ") == 0);
    CHECK(vector_refusal(symmetric + "2 2 0\n").find("v.mtx:2: a symmetric matrix") == 0);
    CHECK(vector_refusal(real + "9 1 2\n5 1 1e308\n5 1 1e308\n")
              .find("v.mtx:3: the entries of (5, 1) add up to infinity") == 0);
    CHECK(vector_refusal(array + "2 1\n1\nnan\n").find("v.mtx:4: ") == 0);
    CHECK(vector_refusal(array + "2 1\n1\n").find("v.mtx:3: ") == 0);
}
