// krylith bench sparse: its table, its rows, and the facts that pictures are drawn against.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/bench/sparse/sparse_kernel.hpp>
#include <krylith/bench/sparse/sparse_pattern.hpp>
#include <krylith/bench/sparse/sparse_row.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith::bench {

TEST_CASE("bench sparse: kernels by name, all without, and others refused") {
    CHECK(sparse_kernels_named({}).size() == sparse_kernels().size());
    CHECK(sparse_kernels_named({"transpose"}).front().name == "transpose");
    CHECK_THROWS_WITH_AS((void)sparse_kernels_named({"coffee"}),
                         doctest::Contains("unknown kernel 'coffee'; allowed are transpose"),
                         usage_error);
}

KRYLITH_GROUP_TEST("bench sparse: every kernel measures a small mesh and is right") {
    if (group.size() > 1) return; // a kernel runs on one device
    const auto a = make_gallery<double>("poisson2d:12");
    const auto single = make_gallery<float>("poisson2d:12");
    for (const sparse_kernel& kernel : sparse_kernels()) {
        CAPTURE(kernel.name);
        const auto lines = kernel.measure({group.handle(0), a, 1, true, &group});
        CHECK_FALSE(lines.empty());
        for (const sparse_line& line : lines) {
            CHECK(line.kernel == kernel.name);
            CHECK(line.seconds > 0);
            CHECK(line.least > 0);
            CHECK(line.least <= line.seconds);
            CHECK(line.peer.empty() == (line.peer_seconds == 0));
        }
        CHECK_FALSE(kernel.measure_single({group.handle(0), single, 1, false, &group}).empty());
    }
}

TEST_CASE("bench sparse: skew and distance from the diagonal") {
    const std::vector<std::int64_t> offsets = {0, 1, 2, 3, 4};
    const std::vector<std::int32_t> diagonal = {0, 1, 2, 3};
    const pattern_facts near = facts_of(offsets, diagonal, 4);
    CHECK(near.spread == 0);
    CHECK(near.skew == 0);
    CHECK(near.mean_row == 1);
    const std::vector<std::int32_t> reverse = {3, 2, 1, 0};
    CHECK(facts_of(offsets, reverse, 4).spread == doctest::Approx(0.5));
    const std::vector<std::int64_t> one_long = {0, 0, 0, 0, 4};
    const pattern_facts skewed = facts_of(one_long, diagonal, 4);
    CHECK(skewed.longest_row == 4);
    CHECK(skewed.skew == doctest::Approx(1.7320508));
    CHECK(facts_of(std::vector<std::int64_t>{0}, {}, 5).spread == 0);
}

TEST_CASE("bench sparse: a row has rates and a speedup, a failed one is void") {
    sparse_subject subject{{"gallery:x", "x", ""}, 10, 20, 1000, {}};
    sparse_line line;
    line.kernel = "transpose";
    line.variant = "v";
    line.peer = "other";
    line.seconds = 0.5;
    line.least = 0.4;
    line.peer_seconds = 1;
    line.bytes = 1000000000;
    line.flops = 2000000000;
    line.set_up = 0.002;
    json row = sparse_row(subject, line);
    CHECK(row.at("set_up_ms") == 2.0);
    CHECK_FALSE(row.contains("peer_set_up_ms"));
    CHECK_FALSE(row.contains("threads"));
    CHECK(row.at("speedup") == 2.0);
    CHECK(row.at("gb_per_s") == 2.0);
    CHECK(row.at("gflops") == 4.0);
    CHECK(row.at("ms").at("median") == 500.0);
    CHECK(row.at("void_because").empty());
    CHECK(sparse_table_lines(row).find("2.00x") != std::string::npos);
    CHECK(sparse_table_lines(row).find(" 2.0000 ") != std::string::npos);
    subject.threads = 8;
    line.peer_set_up = 3;
    row = sparse_row(subject, line);
    CHECK(row.at("threads") == 8);
    CHECK(row.at("peer_set_up_ms") == 3000.0);
    const json failed = failed_sparse_row(subject, "transpose", "it is wrong");
    CHECK(failed.at("void_because").size() == 1);
    CHECK(sparse_table_lines(failed).find("void: it is wrong") != std::string::npos);
}

} // namespace krylith::bench
