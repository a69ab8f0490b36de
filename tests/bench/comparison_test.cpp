// The arithmetic of krylith bench spmv: limits, means, tables.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <krylith/bench/common/csv_file.hpp>
#include <krylith/bench/spmv/spmv_limit.hpp>
#include <krylith/bench/spmv/spmv_summary.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {
namespace {

json row(const char* asked, int devices, double speedup, double fraction_of_limit) {
    return {{"matrix", "m"},
            {"asked", asked},
            {"operator", asked},
            {"format", "csr"},
            {"devices", devices},
            {"speedup", speedup},
            {"fraction_of_limit", fraction_of_limit},
            {"compute_us", 2.0},
            {"transfer_us", 3.0},
            {"void_because", json::array()}};
}

TEST_CASE("spmv_limit: what is hidden is a share of the shorter of both") {
    const spmv_limit transfer_bound{2, 6};
    CHECK(transfer_bound.seconds() == 6);
    CHECK(transfer_bound.hidden(6) == 1);   // all of the compute is beside the transfer
    CHECK(transfer_bound.hidden(8) == 0);   // one after the other
    CHECK(transfer_bound.hidden(7) == 0.5); // half of it
    CHECK(transfer_bound.hidden(20) == 0);
    CHECK(transfer_bound.hidden(5) == 1); // faster than what was measured apart
    const spmv_limit compute_bound{6, 2};
    CHECK(compute_bound.seconds() == 6);
    CHECK(compute_bound.hidden(7) == 0.5);
    CHECK_FALSE(spmv_limit{6, 0}.hidden(7).has_value());
    const spmv_limit half_waits{6, 4, 3};
    CHECK(half_waits.seconds() == 7);
    CHECK(half_waits.hidden(7) == 1);
    CHECK(half_waits.hidden(10) == 0);
    CHECK_FALSE(spmv_limit{6, 4, 6}.hidden(10).has_value()); // all waits: nothing to hide
}

TEST_CASE("spmv_summary: geometric means by operator and devices, of rows that are not void") {
    spmv_summary summary(2.65);
    summary.add(row("nz", 4, 2.0, 0.5));
    summary.add(row("nz", 4, 0.5, 0.5));
    summary.add(row("nz", 2, 1.5, 0.9));
    json bad = row("nz", 4, 100, 1);
    bad["void_because"] = {"wrong"};
    summary.add(bad);
    summary.add(row("halo", 1, 1, 1)); // the baseline
    const json all = summary.as_json();
    REQUIRE(all["speedups"].size() == 2);
    CHECK(all["speedups"][0]["devices"] == 2);
    CHECK(all["speedups"][1]["cases"] == 2);
    CHECK(all["speedups"][1]["speedup"].get<double>() == doctest::Approx(1.0));
    CHECK_FALSE(all["speedups"][1].contains("speedup_over_cusparse"));
}

TEST_CASE("spmv_summary: forbidden is what the limit, not the time, keeps below the target") {
    spmv_summary summary(2.65);
    summary.add(row("nz", 4, 2.0, 0.5));  // the limit is 4x
    summary.add(row("lra", 4, 2.0, 0.8)); // 2.5x
    summary.add(row("halo", 2, 1.9, 1));  // no operator can on two
    const json all = summary.as_json();
    REQUIRE(all["forbidden"].size() == 1);
    CHECK(all["forbidden"][0]["operator"] == "lra");
    CHECK(all["forbidden"][0]["most_speedup"].get<double>() == doctest::Approx(2.5));
    CHECK(all["forbidden"][0]["because"] == "transfer");
    CHECK(spmv_summary::in_words(all).find("at most 2.50x by its transfer") != std::string::npos);
}

TEST_CASE("csv_file: a line a row, quoted where it must be, what is missing empty") {
    const auto path = std::filesystem::temp_directory_path() / "krylith-csv-test.csv";
    const csv_file file(path.string(), {"name", "us/median", "missing", "why"});
    file.add({{"name", "a,\"b\""},
              {"us", {{"median", 0.5}}},
              {"missing", nullptr},
              {"why", {"one", "two"}}});
    file.add({{"name", "c"}});
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    CHECK(text.str() == "name,us/median,missing,why\n\"a,\"\"b\"\"\",0.5,,one; two\nc,,,\n");
    std::filesystem::remove(path);
    CHECK_THROWS_AS(csv_file("/nowhere/at/all.csv", {"name"}), input_error);
}

} // namespace
} // namespace krylith::bench
