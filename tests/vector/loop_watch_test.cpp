// Loops that the host watches: what it gets to know, and that its word ends them on all devices.
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <krylith/vector/fused.hpp>
#include <krylith/vector/vector.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::modes_of;
using testing::set_controls;

namespace {

/// A loop of one reduction, whose squared residual norm stays 40.
struct steady_loop {
    explicit steady_loop(const device_group& group, execution_mode mode, int unroll)
        : run(group, {.mode = mode, .unroll = unroll, .history_size = 5000}),
          r(testing::make_layout(group, 40, coherence::owned)),
          rr(run) {
        r.upload(std::vector<double>(40, 1.0));
    }

    loop_report go(const loop_watcher& watcher) {
        return run.repeat(
            [&] {
                fused(run, r = r, rr = dot(r, r));
                test_residual(rr);
            },
            watcher);
    }

    execution run;
    vector<double> r;
    scalar rr;
};

constexpr std::int64_t endless = 1'000'000'000;

} // namespace

KRYLITH_GROUP_TEST("watched loops: every iteration is told once, in order, to the last one") {
    for (const auto mode : modes_of(group))
        for (const int unroll : {1, 7, 16}) {
            CAPTURE(unroll);
            steady_loop loop(group, mode, unroll);
            std::vector<std::int64_t> seen;
            std::int64_t from = 0;
            for (const std::int64_t to : {1, 16, 17, 500}) { // each goes on from the last
                set_controls(loop.run, from, to);
                const auto end = loop.go({from, [&](std::span<const loop_post> posts) {
                                              for (const loop_post& post : posts) {
                                                  seen.push_back(post.iteration);
                                                  CHECK(post.residual == 40);
                                              }
                                              return false;
                                          }});
                CHECK(end.state == loop_state::limit);
                CHECK(end.iterations == to);
                CHECK(static_cast<std::int64_t>(seen.size()) == to);
                from = to;
            }
            for (std::size_t k = 0; k < seen.size(); ++k)
                CHECK(seen[k] == static_cast<std::int64_t>(k) + 1);
        }
}

KRYLITH_GROUP_TEST("watched loops: the host's word ends the loop at the end of a trip") {
    for (const auto mode : modes_of(group))
        for (const int unroll : {1, 7}) {
            steady_loop loop(group, mode, unroll);
            for (const std::int64_t at : {0, 1, 100}) {
                CAPTURE(at);
                set_controls(loop.run, 0, endless);
                std::int64_t last = 0;
                const auto end = loop.go({0, [&](std::span<const loop_post> posts) {
                                              if (!posts.empty()) last = posts.back().iteration;
                                              return last >= at;
                                          }});
                CHECK(end.state == loop_state::stopped);
                CHECK(end.iterations >= at);
                CHECK(end.iterations % unroll == 0);
                CHECK(last == end.iterations);
                // It holds for one launch only.
                set_controls(loop.run, 0, 20);
                const auto next = loop.go({0, [](auto) { return false; }});
                CHECK(next.state == loop_state::limit);
                CHECK(next.iterations == 20);
                set_controls(loop.run, 0, 20);
                CHECK(loop.run
                          .repeat([&] {
                              fused(loop.run, loop.r = loop.r, loop.rr = dot(loop.r, loop.r));
                              test_residual(loop.rr);
                          })
                          .state == loop_state::limit);
            }
        }
}

KRYLITH_GROUP_TEST("watched loops: a look that throws ends the loop first") {
    for (const auto mode : modes_of(group)) {
        steady_loop loop(group, mode, 16);
        set_controls(loop.run, 0, endless);
        CHECK_THROWS_AS((void)loop.go({0,
                                       [](std::span<const loop_post> posts) -> bool {
                                           if (!posts.empty()) throw std::domain_error("enough");
                                           return false;
                                       }}),
                        std::domain_error);
        set_controls(loop.run, 0, 20);
        CHECK(loop.go({0, [](auto) { return false; }}).iterations == 20);
    }
}

KRYLITH_GROUP_TEST("watched loops: a host that is far behind goes on with the newest") {
    for (const auto mode : modes_of(group)) {
        steady_loop loop(group, mode, 5000);
        set_controls(loop.run, 0, 4500);
        std::vector<std::int64_t> seen;
        const auto end = loop.go({0, [&](std::span<const loop_post> posts) {
                                      for (const loop_post& post : posts)
                                          seen.push_back(post.iteration);
                                      return false;
                                  }});
        CHECK(end.iterations == 4500);
        REQUIRE(!seen.empty());
        CHECK(seen.back() == 4500);
        for (std::size_t k = 1; k < seen.size(); ++k) CHECK(seen[k] == seen[k - 1] + 1);
    }
}

} // namespace krylith
