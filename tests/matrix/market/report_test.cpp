// The reader counts what it did to the entries: nothing is summed, rounded or dropped in silence.
#include <krylith/matrix/matrix_market.hpp>

#include <string>

#include <doctest/doctest.h>

namespace {

template <class T = double>
krylith::file_report report_on(const std::string& text) {
    krylith::file_report report;
    static_cast<void>(krylith::parse_matrix_market<T>("%%MatrixMarket matrix " + text, "r.mtx",
                                                      {.report = &report}));
    return report;
}

} // namespace

TEST_CASE("market report: the banner and the entries") {
    const auto report = report_on("coordinate real symmetric\n2 2 2\n1 1 1\n2 1 1\n");
    CHECK(report == krylith::file_report{"coordinate", "real", "symmetric", 2});
    CHECK(in_words(report) == "coordinate real symmetric, 2 entries");
    CHECK(report_on("array integer general\n2 1\n0\n1\n") ==
          krylith::file_report{"array", "integer", "general", 2});
    CHECK(report_on("coordinate pattern general\n0 0 0\n").entries == 0);
}

TEST_CASE("market report: every entry added to another one is a duplicate") {
    const std::string general = "coordinate real general\n";
    CHECK(report_on(general + "2 2 3\n1 1 1\n2 2 1\n1 2 1\n").duplicates == 0); // only unsorted
    CHECK(report_on(general + "2 2 4\n1 1 1\n1 1 1\n2 1 0\n1 1 1\n").duplicates == 2);
    CHECK(report_on(general + "2 2 4\n1 1 1\n1 1 1\n2 1 0\n2 1 -0\n").duplicates == 2);
    // A symmetric file's entries count as they stand in it, without their mirror images.
    CHECK(report_on("coordinate real symmetric\n3 3 4\n2 1 1\n2 1 1\n3 3 1\n3 3 2\n").duplicates ==
          2);
    krylith::file_report report;
    const auto vector = krylith::parse_vector_market<double>(
        "%%MatrixMarket matrix coordinate real general\n5 1 4\n3 1 5\n1 1 2\n3 1 1\n3 1 1\n",
        "v.mtx", {.report = &report});
    CHECK(vector == std::vector<double>{2, 0, 7, 0, 0});
    CHECK(report.duplicates == 2);
    CHECK(in_words(report) == "coordinate real general, 4 entries; 2 duplicates were added to the "
                              "first of their place");
}

TEST_CASE("market report: whole numbers are exact to 2^53, and counted beyond where they aren't") {
    const std::string banner = "coordinate integer general\n2 2 1\n1 1 ";
    const auto rounded = [&](const std::string& number) {
        return report_on(banner + number + "\n").rounded;
    };
    CHECK(rounded("9007199254740991") == 0);
    CHECK(rounded("-9007199254740992") == 0);
    CHECK(rounded("9007199254740993") == 1);
    CHECK(rounded("9007199254740994") == 0); // even: held exactly
    CHECK(rounded("-0000000000000009007199254740993") == 1);
    CHECK(rounded("+0000000000000000000000000000007") == 0);
    CHECK(rounded("00000000000000000000") == 0);
    CHECK(rounded("1" + std::string(22, '0')) == 0); // 10^22 is a double
    CHECK(rounded("1" + std::string(23, '0')) == 1); // 10^23 is none
    CHECK(rounded("1" + std::string(308, '0')) == 1);
    CHECK(report_on<float>(banner + "16777216\n").rounded == 0);
    CHECK(report_on<float>(banner + "16777217\n").rounded == 1);
    CHECK(in_words(report_on<float>(banner + "-16777217\n")) ==
          "coordinate integer general, 1 entry; 1 whole number was rounded to the nearest that "
          "fits");
    CHECK(report_on("coordinate real general\n2 2 1\n1 1 9007199254740993\n").rounded == 0);
}

TEST_CASE("market report: magnitudes that vanish, numbers behind pattern entries") {
    const auto vanished = report_on("coordinate real general\n2 2 3\n1 1 1e-400\n1 2 0e-999\n2 2 "
                                    "-1D-400\n");
    CHECK(vanished.vanished == 2);
    CHECK(report_on<float>("coordinate real general\n2 2 1\n1 1 1e-60\n").vanished == 1);
    const auto ignored = report_on("coordinate pattern general\n2 2 3\n1 1 5\n1 2\n2 2 1e-400\n");
    CHECK(ignored.ignored == 2);
    CHECK(ignored.vanished == 0);
    CHECK(in_words(ignored) ==
          "coordinate pattern general, 3 entries; 2 numbers behind pattern entries were ignored");
}
