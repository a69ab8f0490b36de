// What krylith bench spmv measures: families, operators, blocks alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/bench/spmv/generation_clock.hpp>
#include <krylith/bench/spmv/partition_cost.hpp>
#include <krylith/bench/spmv/spmv_limit.hpp>
#include <krylith/bench/spmv/spmv_measure.hpp>
#include <krylith/bench/spmv/spmv_request.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {
namespace {

constexpr slope_effort brief_slopes{
    .warm_up = 1, .iterations = 2, .repetitions = 1, .most = 1, .seconds = 0, .warm_up_seconds = 0};

TEST_CASE("families: the smallest of each has about the nonzeros that its size says") {
    std::set<std::string> names;
    for (const spmv_case& c : family_members("all", {"tiny"})) {
        CAPTURE(c.matrix);
        names.insert(c.family);
        CHECK(c.size == "tiny");
        const auto millions = 1e-6 * static_cast<double>(make_workload(c.matrix).nnz());
        CHECK(millions > 0.6 * usual_millions("tiny"));
        CHECK(millions < 1.5 * usual_millions("tiny"));
    }
    CHECK(names.size() == 10);
}

TEST_CASE("families: sizes ascend, and names that are unknown are refused") {
    const auto members = family_members("kron,kmer", {"large", "small"});
    REQUIRE(members.size() == 4);
    CHECK(members[0].matrix == "gallery:kron:18:20");
    CHECK(members[1].size == "large");
    CHECK(members[2].family == "kmer");
    CHECK(smallest_member(members[1]).matrix == "gallery:kron:14");
    CHECK_THROWS_WITH_AS((void)family_members("kroon", {"small"}),
                         doctest::Contains("unknown family 'kroon'; allowed are all kmer"),
                         usage_error);
    CHECK_THROWS_WITH_AS((void)family_members("kron", {"big"}),
                         "unknown size 'big'; allowed are tiny small medium large", usage_error);
    CHECK(case_of_matrix("gallery:poisson3d:256:random=1").family == "poisson3d");
    CHECK(case_of_matrix("there/mine.mtx").family == "mine");
}

TEST_CASE("generation_clock: in proportion to nonzeros, from the last of the family") {
    generation_clock clock;
    const auto members = family_members("web", {"small", "large"});
    clock.took(members[0], 2);
    CHECK(clock.predict(members[1]) == doctest::Approx(60));
    CHECK(clock.predict(case_of_matrix("mine.mtx")) == 0);
    CHECK(clock.predict(family_members("poisson3d", {"tiny"}).front()) > 0); // by making it
}

TEST_CASE("spmv_request: all operators, and options that only their kind gets") {
    spmv_request q;
    CHECK(q.operator_list().size() == 9);
    q.operators = {"halo", "auto"};
    CHECK(q.operator_list() == std::vector<std::string>{"halo", "auto"});
    q.operators = {"hallo"};
    CHECK_THROWS_AS((void)q.operator_list(), usage_error);
    q.multiply.transport = "copy-engine";
    q.multiply.long_fraction = 0.25;
    const auto halo = q.options_of("halo", "csr");
    CHECK(halo.transport == transports::automatic);
    CHECK(halo.long_fraction == -1);
    const auto lra = q.options_of("lra", "csr");
    CHECK(lra.transport == transports::copy_engine);
    CHECK(lra.long_fraction == 0.25);
    CHECK(lra.redundant_fraction == -1);
}

TEST_CASE("largest_error: relative to |A| |x|, and a NaN is not lost among later rows") {
    const reference_product expected{.y = {1, 2, 0}, .scale = {2, 4, 0}};
    CHECK(largest_error(expected, std::vector<double>{1, 2, 0}) == 0);
    CHECK(largest_error(expected, std::vector<double>{1.5, 2, 0}) == 0.25);
    CHECK(std::isinf(largest_error(expected, std::vector<double>{1, 2, 1})));
    CHECK(std::isnan(largest_error(expected, std::vector<double>{NAN, 2.5, 0})));
}

TEST_CASE("limits and costs of every operator on any number of devices, more than rows too") {
    for (const char* name :
         {"gallery:poisson3d:9", "gallery:fullchip:300", "gallery:poisson1d:5"}) {
        const workload w = make_workload(name);
        const reference_product expected = multiply_by_b(w);
        for (const int devices : {2, 3, 4, 7}) {
            CAPTURE(name);
            CAPTURE(devices);
            const device_choice choice =
                choose_devices({.backend = "host", .threads = 2}, {devices});
            const device_group group = choice.group(devices);
            const lone_blocks blocks = measure_blocks<double>(
                choice, w, devices, formats::csr, execution_mode::automatic, brief_slopes);
            REQUIRE(blocks.seconds.size() == static_cast<std::size_t>(devices));
            for (const std::string& kind : spmv_request{}.operator_list()) {
                CAPTURE(kind);
                const auto options = spmv_request{}.options_of(kind, "csr");
                const auto a = make_operator(group, w.matrix, options);
                const auto numbers = measure_spmv(
                    *a, w, expected, repeated_as(*a, execution_mode::automatic, brief_slopes),
                    brief_slopes, true);
                CHECK(numbers.largest_error < 1e-14);
                CHECK(numbers.product_dot.samples == 1);
                const spmv_limit limit = limit_of(*a, blocks, 1e9);
                CHECK(limit.compute >= 0);
                CHECK(limit.waiting <= limit.compute);
                CHECK((limit.waiting == 0 || a->kind() == operators::halo ||
                       a->kind() == operators::allgather));
                std::int64_t most = 0;
                for (int rank = 0; rank < devices; ++rank) {
                    most = std::max(most, a->received(rank));
                }
                CHECK(limit.transfer == doctest::Approx(8e-9 * static_cast<double>(most)));
                CHECK(partition_seconds(a->kind(), w.matrix, group, options) >= 0);
            }
        }
    }
}

} // namespace
} // namespace krylith::bench
