// Rutherford-Boeing and Harwell-Boeing files.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/contains.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using krylith::csr_matrix;
using krylith::load_matrix;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::golden;
using krylith::test::golden_matrix;
using krylith::test::load_refusal;
using krylith::test::temporary_folder;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("rutherford-boeing: rectangular, symmetric, skew and pattern") {
    CHECK(load_matrix<double>(golden("rectangular.rb")) == golden_matrix<double>());
    CHECK(load_matrix<double>(golden("harwell_boeing.rua")) == golden_matrix<double>());
    const csr_matrix<double> symmetric{
        3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {4, -1, -1, 4, -1.5, -1.5, 4}};
    CHECK(load_matrix<double>(golden("symmetric.rb")) == symmetric);
    const csr_matrix<double> skew{3, 3, {0, 1, 3, 4}, {1, 0, 2, 1}, {-7, 7, 5, -5}};
    CHECK(load_matrix<double>(golden("skew.rb")) == skew);
    const csr_matrix<float> pattern{2, 2, {0, 1, 3}, {0, 0, 1}, {1, 1, 1}};
    CHECK(load_matrix<float>(golden("pattern.rb")) == pattern);
}

TEST_CASE("rutherford-boeing: points that the format implies, exponents without a letter") {
    const csr_matrix<double> expected{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1.5, 1.5e100, -2.5, 0.015}};
    CHECK(load_matrix<double>(golden("implied_points.rb")) == expected);
}

TEST_CASE("rutherford-boeing: numbers may touch, or be narrower than the format says") {
    const csr_matrix<double> touching{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {-1, -3, -2, -4}};
    CHECK(load_matrix<double>(golden("touching.rb")) == touching);
    const temporary_folder folder;
    const std::string wide =
        replaced(contents_of(golden("rectangular.rb")), "(3D26.18)", "(3D40.18)");
    CHECK(load_matrix<double>(folder.write("a.rb", wide).string()) == golden_matrix<double>());
}

TEST_CASE("rutherford-boeing: numbers of lines are no numbers of the matrix") {
    CHECK(load_matrix<double>(golden("numbered_cards.rua")) == golden_matrix<double>());
    const temporary_folder folder;
    const auto with_values = [&](const std::string& format, const std::string& lines) {
        const std::string text =
            "title\n 4 1 1 1 0\nRUA 2 2 3 0\n(4I3)           (3I3)           " + format +
            "\n  1  3  4\n  1  2  2\n" + lines;
        return load_matrix<double>(folder.write("a.hb", text).string()).values;
    };
    const std::vector<double> expected = {1.5, -2.5, 4};
    CHECK(with_values("(3F8.2)", "    1.50   -2.50    4.00SEQ00001\n").size() == 3);
    CHECK(with_values("(3F8.2)", "    1.50    4.00   -2.50SEQ00001\n")[1] == 4);
    // Numbers that touch, and a number of the line: as many words as numbers.
    const std::string blanks(60, ' ');
    CHECK(with_values("(3F4.1)", " 1.5-2.5 4.0" + blanks + "00000007\n") ==
          with_values("(3F8.2)", "    1.50   -2.50    4.00\n"));
    // Fortran takes blanks behind a sign.
    CHECK(with_values("(3F8.2)", "    1.50-   2.50+   4.00\n") ==
          with_values("(3F8.2)", "    1.50   -2.50    4.00\n"));
    // A number that is wider than its format says goes on behind it.
    CHECK(with_values("(1E12.5)", " 1.500000000E+00\n 4.000000000E+00\n-2.500000000E+00\n") ==
          with_values("(3F8.2)", "    1.50    4.00   -2.50\n"));
}

TEST_CASE("rutherford-boeing: known by its contents, whatever its name and the ends of lines") {
    const temporary_folder folder;
    const std::string text = contents_of(golden("rectangular.rb"));
    CHECK(load_matrix<double>(folder.write("a.mtx", text).string()) == golden_matrix<double>());
    std::string dos;
    for (const char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
    CHECK(load_matrix<double>(folder.write("dos.txt", dos).string()) == golden_matrix<double>());
    krylith::file_report report;
    static_cast<void>(load_matrix<double>(golden("skew.rb"), {.report = &report}));
    CHECK(in_words(report) == "Rutherford-Boeing integer skew-symmetric, 2 entries");
}

TEST_CASE("rutherford-boeing: many lines are read in parallel, each to its place") {
    const temporary_folder folder;
    constexpr int n = 50'000; // a diagonal: some MB
    std::string text = "many" + std::string(76, ' ') + "\n 0 0 0 0\nrua " + std::to_string(n) +
                       " " + std::to_string(n) + " " + std::to_string(n) +
                       " 0\n(10I8)          (8I9)           (3E25.16)\n";
    const auto put = [&](int count, int width, int a_line, auto value) {
        for (int k = 0; k < count; ++k) {
            const std::string number = value(k);
            text += std::string(static_cast<std::size_t>(width) - number.size(), ' ') + number;
            if ((k + 1) % a_line == 0 || k + 1 == count) text += '\n';
        }
    };
    put(n + 1, 8, 10, [](int k) { return std::to_string(k + 1); });
    put(n, 9, 8, [](int k) { return std::to_string(n - k); });
    put(n, 25, 3, [](int k) { return std::to_string(k) + ".5"; });
    const auto matrix = load_matrix<double>(folder.write("a.rb", text).string());
    REQUIRE(matrix.nnz() == n);
    bool good = true;
    for (int row = 0; row < n; ++row) {
        const auto k = static_cast<std::size_t>(row);
        good = good && matrix.row_offsets[k] == row && matrix.column_indices[k] == n - 1 - row &&
               matrix.values[k] == n - 1 - row + 0.5;
    }
    CHECK(good);
}

TEST_CASE("rutherford-boeing: what can't be accepted is told by line and place") {
    const temporary_folder folder;
    const std::string text = contents_of(golden("rectangular.rb"));
    const auto with = [&](const std::string& from, const std::string& to) {
        return load_refusal(folder.write("a.rb", replaced(text, from, to)).string());
    };
    CHECK(contains(with("rra", "cra"), "a.rb:3: a matrix of type CRA, allowed are r"));
    CHECK(contains(with("rra", "rre"), "a matrix of elements"));
    CHECK(contains(with("rra", "rha"), "a Hermitian matrix"));
    CHECK(contains(with("rra", "rsa"), "of 3 rows and 4 columns, allowed are as many"));
    CHECK(
        contains(with("(3D26.18)", "(3A26)   "), "a.rb:4: the format of the values is \"(3A26)\""));
    CHECK(contains(with("(16I5)", "(16F5)"), "the format of the column pointers"));
    CHECK(contains(with("    4    5    6", "    4    5    7"),
                   "a.rb:5: at character 25 the column pointer is \"7\", allowed are whole "
                   "numbers from 1 to 6"));
    CHECK(contains(with("    3    4    5", "    4    3    5"), "column_offsets"));
    CHECK(contains(with("    2    1    3\n", "    2    1    4\n"),
                   "a.rb:6: at character 25 the row is \"4\", allowed are whole numbers from "
                   "1 to 3"));
    CHECK(contains(with("    2    1    3\n", "    2    1\n"), "the row is \"\""));
    CHECK(contains(with("2.500000000000000000D+00", "2.5000000000000000x0D+00"),
                   "a.rb:8: at character 3 the value is"));
    CHECK(contains(with("5             0", "50            0"), "allowed are the"));
    CHECK(contains(with("1.000000000000000000D-03\n", ""), "the value is \"\""));
    const std::string twice = contents_of(golden("symmetric.rb"));
    CHECK(contains(
        load_refusal(folder.write("b.rb", replaced(twice, " 1 2 2 3 3", " 1 2 1 3 3")).string()),
        "gives both (1, 2) and (2, 1)"));
    for (std::size_t end = 0; end + 1 < text.size(); end += 3) {
        const auto path = folder.write("cut.rb", text.substr(0, end)).string();
        const std::string said = load_refusal(path);
        CAPTURE(end);
        CHECK((said.starts_with(path + ":") ||
               // A number that is cut off is another number, which no format can tell.
               end + 26 > text.size()));
    }
}
