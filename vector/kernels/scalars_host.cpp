#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/execution/host_signal.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::host {

namespace {

/// How often a rank wakes its host at most.
constexpr std::chrono::microseconds shortest_call{200};

void ring(loop_bell& bell, bool at_once) {
    const auto now = std::chrono::steady_clock::now();
    if (!at_once && now - bell.last < shortest_call) return;
    bell.last = now;
    const std::lock_guard lock(bell.lock);
    bell.rung = true;
    bell.rings.notify_one();
}

/// Replaces a post that the host may be reading: the stamp is gone while the value changes.
void put_post(stamped_value& post, double value, std::uint64_t stamp) {
    std::atomic_ref(post.epoch).exchange(0, std::memory_order_acq_rel);
    std::atomic_ref(post.value).store(value, std::memory_order_release);
    store_release(post.epoch, stamp);
}

void post_residuals(loop_board& board, const iteration_record& history, std::uint64_t launch,
                    double from, double to) {
    const auto most = std::min<std::int64_t>(history.mask + 1, loop_posts);
    const auto last = static_cast<std::int64_t>(to);
    const auto first = std::max(static_cast<std::int64_t>(from), last - most) + 1;
    for (std::int64_t k = first; k <= last; ++k)
        put_post(board.posts[k % loop_posts], history.at(static_cast<double>(k)),
                 post_stamp(launch, static_cast<std::uint64_t>(k)));
}

/// Returns the launch that the host wants to stop, as all ranks know it at the end of this trip;
/// 0: none. Sets `go` to false where rank 0 is not heard of.
std::uint64_t order_of_host(const all_reduce_slots& all_reduce, loop_watch& watch, bool& go) {
    std::uint64_t order = 0;
    if (watch.board != nullptr)
        order = std::atomic_ref(watch.board->order).load(std::memory_order_relaxed);
    if (all_reduce.ranks == 1) return order;
    const std::uint64_t trip = ++watch.trips;
    if (all_reduce.rank == 0)
        for (int rank = 0; rank < all_reduce.ranks; ++rank) {
            stamped_value& to = watch.peer_orders[rank][trip & 1];
            std::atomic_ref(to.value).store(static_cast<double>(order), std::memory_order_relaxed);
            store_release(to.epoch, trip);
        }
    if (trip == 1) return 0;
    stamped_value& before = watch.orders[(trip - 1) & 1];
    go = wait_until(all_reduce, 0, [&] { return load_acquire(before.epoch) >= trip - 1; });
    return static_cast<std::uint64_t>(
        std::atomic_ref(before.value).load(std::memory_order_relaxed));
}

/// Ends a trip that the host watches. Returns whether the loop goes on.
bool end_trip(const kernel_context& context, const trip_end& end, const registers& reg, bool go) {
    loop_watch& watch = *end.watch;
    const auto launch = static_cast<std::uint64_t>(reg[control::watched]);
    if (watch.board != nullptr)
        post_residuals(*watch.board, context.history, launch, reg[control::posted],
                       reg[control::iteration]);
    context.slots[end.posted_slot] = reg[control::iteration];
    if (end.decides && go && order_of_host(context.all_reduce, watch, go) == launch && go) {
        context.slots[end.state_slot] = as_register(loop_state::stopped);
        go = false;
    }
    if (watch.board == nullptr) return go;
    const bool ended = !go || !end.decides;
    if (ended) store_release(watch.board->ended, launch);
    if (watch.bell != nullptr) ring(*watch.bell, ended);
    return go;
}

/// Posts what the tasks of this device, to which this is the last, have left in the registers.
void post_registers(const kernel_context& context, const register_post& posted) {
    for (int i = 0; i < posted.count; ++i)
        posted.to.words[i] = std::bit_cast<std::int64_t>(context.slots[posted.slots[i]]);
    posted.to.words[posted.count] = failed(context.all_reduce) ? *context.all_reduce.failure : 0;
    store_release(*posted.to.posted, posted.to.number);
}

} // namespace

void scalars(device& device, const scalar_arguments& a) {
    static_cast<host_device&>(device).submit([a] {
        registers reg;
        bool go = kernel_prologue(a.common, reg);
        if (a.end.watch != nullptr && reg[control::watched] != 0.0)
            go = end_trip(a.common, a.end, reg, go);
        if (a.post.wanted()) post_registers(a.common, a.post);
        if (a.condition == 0) return;
        auto& again = *reinterpret_cast<bool*>(static_cast<std::uintptr_t>(a.condition));
        again = go && reg[control::state] == 0.0 && !failed(a.common.all_reduce);
    });
}

} // namespace krylith::host
