// What krylith bench streamed and imbalance reckon with: formats, rows, matrices of two loads.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/bench/imbalance/imbalance_matrix.hpp>
#include <krylith/bench/imbalance/imbalance_run.hpp>
#include <krylith/bench/streamed/streamed_request.hpp>
#include <krylith/bench/streamed/streamed_row.hpp>
#include <krylith/bench/streamed/streamed_run.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {
namespace {

constexpr streamed_effort brief_streams{.repetitions = 2, .seconds = 0, .warm_up = 1};

TEST_CASE("one_shot_arrays: every format is the same matrix, pageable and pinned") {
    const workload w = make_workload("gallery:fullchip:200");
    const reference_product expected = multiply_by_b(w);
    for (const int devices : {1, 3}) {
        const device_group group = device_group::host(devices, {.host_threads = 2});
        for (const std::string& format : streamed_formats()) {
            CAPTURE(format);
            streamed_arrays arrays(w, format);
            arrays.pin(group);
            for (const bool pinned : {false, true}) {
                for (const std::string& version : streamed_versions()) {
                    CAPTURE(version);
                    const auto product = make_contestant(version, group);
                    const streamed_numbers numbers =
                        measure_streamed(*product, arrays, pinned, expected, brief_streams);
                    CHECK(numbers.largest_error < 1e-14);
                    CHECK(numbers.void_because.empty());
                    CHECK(numbers.total.samples == 2);
                    CHECK(numbers.kernel_alone.median > 0);
                }
            }
        }
    }
    CHECK_THROWS_WITH_AS(
        streamed_arrays(w, "coo-rows"),
        "unknown format 'coo-rows'; allowed are csr csc coo coo-columns coo-unsorted", usage_error);
}

TEST_CASE("measure_one_shot: a wrong result is void") {
    const workload w = make_workload("gallery:poisson1d:9");
    reference_product expected = multiply_by_b(w);
    expected.y[4] += 1;
    streamed_arrays arrays(w, "csr");
    const auto product = make_contestant("p_opt", device_group::host(2));
    CHECK(measure_streamed(*product, arrays, false, expected, brief_streams).void_because.size() ==
          1);
    CHECK_THROWS_AS(streamed_effort{.repetitions = 0}.check(), usage_error);
    CHECK_THROWS_AS(streamed_effort{.seconds = -1}.check(), usage_error);
}

TEST_CASE("msrep rows: speedups are over the fewest devices and over baseline") {
    const auto row = [](const char* version, int devices, double seconds) {
        const spread s{seconds, seconds, seconds, 1};
        streamed_numbers numbers{s, s, s, s, s, s, s, 0, {}};
        return streamed_row({"m", 5, 9, "csr", version, devices, true}, numbers);
    };
    std::vector<json> rows{row("baseline", 2, 8), row("p_opt", 2, 2), row("p_opt", 4, 1),
                           failed_msrep({"m", 5, 9, "csr", "p", 2, true}, "no memory")};
    add_speedups(rows);
    CHECK(rows[1].at("speedup") == 1.0);
    CHECK(rows[1].at("speedup_over_baseline") == 4.0);
    CHECK(rows[2].at("speedup") == 2.0);
    CHECK(rows[2].at("speedup_is_over") == 2);
    CHECK(rows[2].at("kernel_speedup") == 2.0);
    CHECK_FALSE(rows[2].contains("speedup_over_baseline"));
    CHECK_FALSE(rows[3].contains("speedup"));
    CHECK(streamed_table_lines(rows[3]).find("no memory") != std::string::npos);
    for (const std::string& column : streamed_csv_columns()) {
        CAPTURE(column);
        CHECK(rows[1].contains(json::json_pointer("/" + column)));
    }
}

TEST_CASE("streamed_request: names that are none are refused") {
    streamed_request q;
    CHECK(q.format_list().size() == 3);
    CHECK_NOTHROW(q.check_versions());
    q.formats = {"all"};
    CHECK(q.format_list().size() == 5);
    q.formats = {"bsr"};
    CHECK_THROWS_WITH_AS((void)q.format_list(), doctest::Contains("unknown format 'bsr'"),
                         usage_error);
    q.versions = {"p-opt"};
    CHECK_THROWS_WITH_AS(q.check_versions(),
                         "unknown version 'p-opt'; allowed are baseline, p, p_opt", usage_error);
}

TEST_CASE("bench_msrep runs on more devices than rows") {
    streamed_request q;
    q.matrices = {"gallery:poisson1d:3", "gallery:rmat:6"};
    q.formats = {"all"};
    q.devices = {.backend = "host", .threads = 2};
    q.counts = {1, 5};
    q.effort = brief_streams;
    CHECK(streamed_run(q).run());
}

TEST_CASE("two loads: nonzeros as asked, and rows of two lengths") {
    for (const int light : {0, 1, 3}) {
        for (const double ratio : {0.1, 0.5, 1.0}) {
            CAPTURE(light);
            CAPTURE(ratio);
            const two_loads load{4000, 64000, 4, light, ratio};
            const auto a = make_two_loads(load);
            (void)validate(a);
            CHECK(std::abs(a.nnz() - load.nnz) <= 1);
            const auto of = [&](std::size_t block) {
                return static_cast<double>(a.row_offsets[1000 * (block + 1)] -
                                           a.row_offsets[1000 * block]);
            };
            if (light > 0) {
                CHECK(of(0) / of(3) == doctest::Approx(ratio).epsilon(0.01));
            }
            CHECK(of(3) / (static_cast<double>(a.nnz()) / 4) ==
                  doctest::Approx(expected_slowdown(load)).epsilon(0.01));
        }
    }
    for (const two_loads& bad :
         {two_loads{0, 5, 1, 0, 1}, two_loads{10, 50, 4, 4, 0.5}, two_loads{10, 50, 4, 1, 0},
          two_loads{10, 50, 11, 1, 0.5}, two_loads{10, 90, 2, 1, 0.1}}) {
        CHECK_THROWS_AS((void)make_two_loads(bad), usage_error);
    }
}

TEST_CASE("bench_imbalance runs") {
    imbalance_request q;
    q.rows = 600;
    q.ratios = {0.5};
    q.devices = {.backend = "host", .threads = 2};
    q.count = 3;
    q.effort = brief_streams;
    CHECK(imbalance_run(q).run());
    q.count = -1;
    CHECK_THROWS_AS(imbalance_run{q}, usage_error);
}

} // namespace
} // namespace krylith::bench
