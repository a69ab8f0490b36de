// krylith bench multigrid: every step is there, measured as often as asked for, and what is wrong
// voids the row.
#include <algorithm>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <krylith/bench/multigrid/multigrid_measure.hpp>
#include <krylith/bench/multigrid/multigrid_peer.hpp>
#include <krylith/bench/multigrid/multigrid_request.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith::bench {

KRYLITH_GROUP_TEST("bench multigrid: all steps, and a solution that is one") {
    const workload w = make_workload("gallery:poisson3d:9");
    const multigrid_numbers numbers = measure_multigrid(
        group, w, {.options = {}, .rtol = 1e-8, .repetitions = 2, .with_cg = true});
    CHECK(numbers.void_because.empty());
    CHECK(numbers.iterations > 0);
    CHECK(numbers.iterations < numbers.iterations_alone);
    CHECK(numbers.relative_residual <= 1.01e-8);
    CHECK(numbers.levels.size() >= 2);
    CHECK(numbers.levels.front().rows == w.n());
    CHECK(numbers.operator_complexity > 1);
    CHECK(numbers.peak_bytes > numbers.bytes);
    CHECK(numbers.updated_bytes > numbers.bytes);
    for (const char* const name :
         {"make_operator", "amg", "first solve", "total", "second solve", "first amg update",
          "amg update", "solve after update", "cg alone"}) {
        CAPTURE(std::string(name));
        const auto found = std::ranges::find(numbers.phases, name, &multigrid_phase::name);
        REQUIRE(found != numbers.phases.end());
        CHECK(found->seconds.size() == 2);
    }
}

KRYLITH_GROUP_TEST("bench multigrid: a solve that does not converge is void") {
    const workload w = make_workload("gallery:convection_diffusion:9:1000"); // not symmetric
    const amg_options symmetric{.kind = multigrid_kind::symmetric}; // cg refuses the other kind
    CHECK_FALSE(measure_multigrid(group, w, {.options = symmetric, .rtol = 1e-14, .repetitions = 1})
                    .void_because.empty());
}

TEST_CASE("bench multigrid: families beside matrices, and those that are not known are named") {
    multigrid_request q;
    CHECK(q.matrix_list(backend::host).size() == 2);
    q.matrices = {"gallery:poisson3d:9"};
    q.families = "all";
    const auto all = q.matrix_list(backend::host);
    CHECK(all.size() == 15); // in two sizes
    for (const std::string& matrix : all)
        CHECK(std::ranges::any_of(gallery_names(), [&](const gallery_entry& entry) {
            return matrix.starts_with("gallery:" + std::string(entry.name) + ":");
        }));
    q.families = "jump_diffusion,elasticity3d";
    q.sizes = {"tiny"};
    CHECK(q.matrix_list(backend::cuda) == std::vector<std::string>{"gallery:poisson3d:9",
                                                                   "gallery:jump_diffusion:40:1e6",
                                                                   "gallery:elasticity3d:12"});
    q.families = "nobody";
    CHECK_THROWS_WITH_AS((void)q.matrix_list(backend::host), doctest::Contains("jump_diffusion"),
                         usage_error);
}

TEST_CASE("bench multigrid: PyAMG answers the same question where Python has it, or it is said") {
    CHECK(missing_pyamg("/no/such/python").find("/no/such/python has none") == 0);
    if (!missing_pyamg("python3").empty()) return;
    const workload w = make_workload("gallery:poisson3d:9");
    const multigrid_numbers numbers =
        measure_pyamg("python3", std::filesystem::temp_directory_path().string(), w,
                      {.options = {}, .rtol = 1e-8, .repetitions = 2});
    CHECK(numbers.void_because.empty());
    CHECK(numbers.iterations > 0);
    CHECK(numbers.phases.size() == 3);
    for (const multigrid_phase& p : numbers.phases) CHECK(p.seconds.size() == 2);
}

} // namespace krylith::bench
