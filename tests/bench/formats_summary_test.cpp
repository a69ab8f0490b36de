// What `krylith bench sparse` says of formats on all matrices together.
#include <cmath>

#include <doctest/doctest.h>

#include <krylith/bench/sparse/formats_summary.hpp>
#include <krylith/bench/sparse/gallery_matrices.hpp>
#include <krylith/matrix/gallery.hpp>

namespace krylith::bench {

namespace {

json row_of(const std::string& matrix, const std::string& variant, double ms, double speedup) {
    return {{"matrix", matrix},       {"kernel", "formats"}, {"variant", variant},
            {"ms", {{"median", ms}}}, {"speedup", speedup},  {"void_because", json::array()}};
}

} // namespace

TEST_CASE("formats summary: the mean is geometric, and the worst have their names") {
    formats_summary summary;
    summary.take(row_of("one", "csr", 2, 2));
    summary.take(row_of("one", "sell", 1, 4));
    summary.take(row_of("one", "auto", 1, 4));
    summary.take(row_of("two", "csr", 10, 1));
    summary.take(row_of("two", "sell", 12.5, 0.8));
    summary.take(row_of("two", "auto", 12.5, 1));
    json other = row_of("three", "auto", 1, 100);
    other["kernel"] = "transpose";
    summary.take(other);
    json wrong = row_of("three", "auto", 1, 100);
    wrong["void_because"].push_back("wrong");
    summary.take(wrong);
    REQUIRE(summary.matrices() == 2);
    const json all = summary.to_json();
    CHECK(all.at("mean_speedup").get<double>() == doctest::Approx(2));
    CHECK(all.at("least_speedup_of") == "two");
    CHECK(all.at("mean_loss").get<double>() == doctest::Approx(std::sqrt(1.25) - 1));
    CHECK(all.at("largest_loss").get<double>() == doctest::Approx(0.25));
    CHECK(all.at("largest_loss_of") == "two");
    CHECK(summary.text().find("loses at most 25.0% against the fastest format (two)") !=
          std::string::npos);
}

TEST_CASE("formats summary: without a peer there is no ratio") {
    formats_summary summary;
    json row = row_of("one", "auto", 1, 0);
    row.erase("speedup");
    summary.take(row);
    CHECK(summary.to_json().at("mean_speedup") == 0.0);
    CHECK(summary.text().find("other library") == std::string::npos);
}

TEST_CASE("gallery matrices: all are known to the gallery") {
    for (const std::string name : gallery_matrices) {
        CAPTURE(name);
        const std::string spec = name.substr(std::string("gallery:").size());
        CHECK_NOTHROW((void)gallery_named(spec.substr(0, spec.find(':'))));
    }
}

} // namespace krylith::bench
