// The kernel context on host devices: guard, scalar program, all-reduce, time-outs, loops.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include <krylith/tests/vector/host_ranks.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

using testing::host_ranks;

namespace {

constexpr std::uint8_t a_reg = 20;
constexpr std::uint8_t b_reg = 21;
constexpr std::uint8_t c_reg = 22;

/// A kernel that publishes `values` (one chunk) and leaves what it took in `taken`.
void enqueue_publisher(host_ranks& ranks, int rank, const kernel_context& context,
                       std::array<double, 3> values, std::array<double, 3>* taken) {
    const reduction sums = ranks.into(rank, 3);
    ranks[rank].submit([=] {
        host::registers reg;
        if (!host::kernel_prologue(context, reg)) return;
        if (taken != nullptr) *taken = {reg[a_reg], reg[b_reg], reg[c_reg]};
        for (std::size_t v = 0; v < values.size(); ++v) sums.partials[v] = values[v];
        host::publish(context, sums, 1);
    });
}

/// Numbers whose sum depends on the order. The function is not inlined: a product fused with the
/// test's own sum would have other bits.
[[gnu::noinline]] double awkward(int rank, int trip, int v) {
    return std::sin(1.0 + rank + 3.0 * trip + 7.0 * v) * std::pow(10.0, (rank * 5 + v) % 9 - 4);
}

} // namespace

TEST_CASE("host all-reduce: rank order, the same bits on all ranks") {
    constexpr int trips = 60;
    for (const int p : {1, 2, 3, 7}) {
        CAPTURE(p);
        host_ranks ranks(p);
        std::vector<std::vector<std::array<double, 3>>> taken(
            static_cast<std::size_t>(p), std::vector<std::array<double, 3>>(trips + 1));
        for (int trip = 0; trip <= trips; ++trip)
            for (int r = 0; r < p; ++r) {
                kernel_context context = ranks.make_context(r);
                if (trip > 0) host_ranks::take_batch(context, 3, a_reg);
                enqueue_publisher(
                    ranks, r, context,
                    {awkward(r, trip, 0), awkward(r, trip, 1), awkward(r, trip, 2)},
                    &taken[static_cast<std::size_t>(r)][static_cast<std::size_t>(trip)]);
            }
        ranks.synchronize();
        for (int trip = 1; trip <= trips; ++trip)
            for (int v = 0; v < 3; ++v) {
                double sum = awkward(0, trip - 1, v);
                for (int r = 1; r < p; ++r) sum += awkward(r, trip - 1, v);
                for (const auto& of_rank : taken)
                    CHECK(of_rank[static_cast<std::size_t>(trip)][static_cast<std::size_t>(v)] ==
                          sum);
            }
        CHECK(ranks.published(p - 1) == trips + 1);
    }
}

TEST_CASE("host all-reduce into the array") {
    host_ranks ranks(2);
    for (int r = 0; r < 2; ++r) {
        enqueue_publisher(ranks, r, ranks.make_context(r), {1.0 + r, 10.0 + r, 100.0 + r}, nullptr);
        kernel_context context = ranks.make_context(r);
        context.batch = 3;
        context.batch_array = 5;
        ranks.scalars(r, context);
    }
    ranks.synchronize();
    for (int r = 0; r < 2; ++r) {
        CHECK(ranks.array(r)[5] == 3.0);
        CHECK(ranks.array(r)[6] == 21.0);
        CHECK(ranks.array(r)[7] == 201.0);
    }
}

TEST_CASE("chunks are added in order") {
    host_ranks ranks(1);
    const reduction sums = ranks.into(0, 2);
    const kernel_context context = ranks.make_context(0);
    double expected = 0;
    for (int c = 0; c < 5; ++c) {
        sums.partials[c] = awkward(c, 0, 0);
        sums.partials[5 + c] = c;
        expected += sums.partials[c];
    }
    ranks[0].submit([=] { host::publish(context, sums, 5); });
    kernel_context next = ranks.make_context(0);
    host_ranks::take_batch(next, 2, a_reg);
    ranks.scalars(0, next);
    ranks.synchronize();
    CHECK(ranks.slot(0, a_reg) == expected);
    CHECK(ranks.slot(0, b_reg) == 10.0);
}

TEST_CASE("a silent rank fails all ranks after the time-out, and later kernels return at once") {
    host_ranks ranks(3, 1, 50'000'000);
    bool again[3] = {true, true, true};
    const auto before = std::chrono::steady_clock::now();
    for (const int r : {0, 2}) {
        enqueue_publisher(ranks, r, ranks.make_context(r), {1, 2, 3}, nullptr);
        kernel_context context = ranks.make_context(r);
        host_ranks::take_batch(context, 3, a_reg);
        ranks.scalars(r, context, reinterpret_cast<std::uintptr_t>(&again[r]));
    }
    ranks.synchronize();
    for (int r = 0; r < 3; ++r) CHECK(ranks.failure(r) == 1 + 1);
    CHECK_FALSE(again[0]);
    CHECK_FALSE(again[2]);

    for (int i = 0; i < 100; ++i)
        for (int r = 0; r < 3; ++r) {
            kernel_context context = ranks.make_context(r);
            context.guarded = false;
            host_ranks::take_batch(context, 3, a_reg);
            enqueue_publisher(ranks, r, context, {1, 2, 3}, nullptr);
            ranks.scalars(r, context, reinterpret_cast<std::uintptr_t>(&again[r]));
        }
    ranks.synchronize();
    CHECK_FALSE(again[1]);
    CHECK(ranks.published(1) == 0);
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
}

TEST_CASE("data that never arrives fails all ranks") {
    host_ranks ranks(2, 1, 50'000'000);
    const peer_count sent{3, 1};
    const std::uint64_t expected = 4;
    bool again = true;
    kernel_context context = ranks.make_context(0);
    context.signals[0] = {&sent, &expected, 1};
    context.signal_count = 1;
    ranks.scalars(0, context, reinterpret_cast<std::uintptr_t>(&again));
    ranks.synchronize();
    CHECK(ranks.failure(0) == 2);
    CHECK(ranks.failure(1) == 2);
    CHECK_FALSE(again);
}

TEST_CASE("the scalar program loads, computes and stores") {
    host_ranks ranks(1);
    ranks.slot(0, a_reg) = 3;
    ranks.slot(0, b_reg) = 4;
    kernel_context context = ranks.make_context(0);
    host_ranks::load(context, a_reg);
    host_ranks::load(context, b_reg);
    host_ranks::load(context, c_reg);
    host_ranks::store(context, c_reg);
    host_ranks::record(context, scalar_opcode::divide, c_reg, a_reg, b_reg);
    ranks.scalars(0, context);
    ranks.synchronize();
    CHECK(ranks.slot(0, c_reg) == 0.75);
}

TEST_CASE("a guarded kernel after the stop carries its scalars over and does nothing else") {
    host_ranks ranks(2);
    ranks.slot(0, control::state) = as_register(loop_state::converged);
    ranks.slot(0, a_reg) = 7;
    kernel_context context = ranks.make_context(0);
    context.program.loads[context.program.load_count++] = {a_reg, 2 * a_reg};
    context.program.stores[context.program.store_count++] = {a_reg, 2 * a_reg + 1};
    host_ranks::record(context, scalar_opcode::negate, a_reg, a_reg);
    context.batch = 1; // rank 1 never publishes: no rank may wait for it
    context.program.sums[0] = b_reg;
    std::array<double, 3> taken = {-1, -1, -1};
    enqueue_publisher(ranks, 0, context, {1, 2, 3}, &taken);
    ranks.synchronize();
    CHECK(taken[0] == -1);
    CHECK(ranks.published(0) == 0);
    CHECK((&ranks.slot(0, a_reg))[1] == 7);
    CHECK(ranks.failure(0) == 0);

    SUBCASE("an unguarded one does all") {
        context.guarded = false;
        context.batch = 0;
        enqueue_publisher(ranks, 0, context, {1, 2, 3}, &taken);
        ranks.synchronize();
        CHECK(taken[0] == -7);
        CHECK(ranks.published(0) == 1);
        CHECK((&ranks.slot(0, a_reg))[1] == -7);
    }
}

TEST_CASE("the kernel whose program stops the loop does not run") {
    host_ranks ranks(1);
    ranks.slot(0, a_reg) = -1;
    kernel_context context = ranks.make_context(0);
    host_ranks::load(context, a_reg);
    host_ranks::store(context, control::state);
    host_ranks::record(context, scalar_opcode::positive, control::state, a_reg,
                       static_cast<std::uint8_t>(loop_state::indefinite_matrix));
    std::array<double, 3> taken = {-1, -1, -1};
    enqueue_publisher(ranks, 0, context, {1, 2, 3}, &taken);
    ranks.synchronize();
    CHECK(taken[0] == -1);
    CHECK(ranks.published(0) == 0);
    CHECK(ranks.slot(0, control::state) == as_register(loop_state::indefinite_matrix));
}

TEST_CASE("host loops of all ranks stop after the same trip") {
    for (const int p : {1, 2, 3}) {
        CAPTURE(p);
        host_ranks ranks(p);
        std::vector<int> trips(static_cast<std::size_t>(p));
        std::vector<std::unique_ptr<loop_graph>> loops;
        std::vector<double> history(32);
        for (int r = 0; r < p; ++r) {
            ranks.slot(r, control::limit) = 13;
            ranks.slot(r, control::pause_at) = 1000;
            ranks.slot(r, control::patience) = patience_with(1000, 0.98);
            ranks.slot(r, control::ceiling) = 1e300;
            ranks.slot(r, control::best) = 1e300;
            loops.push_back(ranks[r].make_loop());
            loops.back()->begin_recording();
            ranks[r].submit([&trips, r] { ++trips[static_cast<std::size_t>(r)]; });
            enqueue_publisher(ranks, r, ranks.make_context(r), {1.0 + r, 0, 0}, nullptr);
            kernel_context context = ranks.make_context(r);
            host_ranks::take_batch(context, 3, a_reg);
            for (const std::uint8_t reg :
                 {control::iteration, control::target, control::limit, control::pause_at,
                  control::ceiling, control::best, control::best_at, control::patience})
                host_ranks::load(context, reg);
            for (const std::uint8_t reg : {control::state, control::iteration, control::residual,
                                           control::best, control::best_at})
                host_ranks::store(context, reg);
            host_ranks::record(context, scalar_opcode::test, control::residual, a_reg);
            if (r == 0) context.history = {history.data(), 31, 1};
            ranks.scalars(r, context, loops.back()->condition());
            loops.back()->end_recording();
        }
        for (auto& loop : loops) loop->launch();
        ranks.synchronize();
        for (int r = 0; r < p; ++r) {
            CHECK(trips[static_cast<std::size_t>(r)] == 13);
            CHECK(ranks.slot(r, control::state) == as_register(loop_state::limit));
            CHECK(ranks.slot(r, control::residual) == p * (p + 1) / 2.0);
        }
        CHECK(history[13] == p * (p + 1) / 2.0);
        CHECK(history[14] == 0.0);
    }
}

TEST_CASE("a loop that waits for a rank that is not there ends") {
    host_ranks ranks(2, 1, 50'000'000);
    const auto loop = ranks[0].make_loop();
    loop->begin_recording();
    enqueue_publisher(ranks, 0, ranks.make_context(0), {1, 2, 3}, nullptr);
    kernel_context context = ranks.make_context(0);
    host_ranks::take_batch(context, 3, a_reg);
    ranks.scalars(0, context, loop->condition());
    loop->end_recording();
    loop->launch();
    ranks.synchronize();
    CHECK(ranks.failure(0) == 2);
    CHECK(ranks.failure(1) == 2);
}

} // namespace krylith
