// Words through which host devices tell each other that data is there, or may be overwritten.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith::host {

/// Words are written by one thread and read by others; only their readers see them as const.
[[nodiscard]] inline std::uint64_t load_acquire(const std::uint64_t& word) {
    return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

inline void store_release(std::uint64_t& word, std::uint64_t value) {
    std::atomic_ref(word).store(value, std::memory_order_release);
}

/// The epoch is written after the value, so a reader that sees the epoch has the value.
inline void store_stamped(stamped_value& place, stamped_value value) {
    std::atomic_ref(place.value).store(value.value, std::memory_order_relaxed);
    store_release(place.epoch, value.epoch);
}

/// True once any rank has given up waiting for another.
[[nodiscard]] inline bool failed(const all_reduce_slots& all_reduce) {
    return std::atomic_ref(*all_reduce.failure).load(std::memory_order_relaxed) != 0;
}

/// Tells all ranks that `rank` did not answer in time. The first such word stays.
inline void raise_failure(const all_reduce_slots& all_reduce, int rank) {
    const auto write = [&](std::int32_t* word) {
        std::int32_t none = 0;
        std::atomic_ref(*word).compare_exchange_strong(none, 1 + rank, std::memory_order_relaxed);
    };
    write(all_reduce.failure);
    for (int j = 0; j < all_reduce.ranks; ++j) write(all_reduce.failures[j]);
}

/// Waits until `holds()` is true, which rank `rank` will bring about. Returns false if that takes
/// longer than the time-out, and then tells all ranks, or if any rank has failed: nothing may be
/// read or written then. Time is counted between checks, at most 1/64 of the time-out for each,
/// since a process that was stopped (Ctrl-Z, a batch system, a paused machine) has not been
/// waiting.
template <class Condition>
[[nodiscard]] bool wait_until(const all_reduce_slots& all_reduce, int rank,
                              const Condition& holds) {
    // Peers on cores of their own answer within this many checks; others need this core.
    constexpr int checks_before_yield = 200;
    for (int check = 0; check < checks_before_yield; ++check)
        if (holds()) return true;
    using clock = std::chrono::steady_clock;
    const clock::duration patience = std::chrono::nanoseconds(all_reduce.timeout_ns);
    clock::duration waited{0};
    for (auto last = clock::now(); !holds();) {
        if (failed(all_reduce)) return false;
        const auto now = clock::now();
        waited += std::min(now - last, patience / 64);
        last = now;
        if (waited >= patience) {
            raise_failure(all_reduce, rank);
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

/// Waits until all counts are at least `least`. Returns false like wait_until.
[[nodiscard]] inline bool wait_for_counts(const all_reduce_slots& all_reduce,
                                          const peer_count* counts, std::int32_t size,
                                          std::uint64_t least) {
    for (const peer_count* one = counts; one != counts + size; ++one)
        if (!wait_until(all_reduce, static_cast<int>(one->peer),
                        [&] { return load_acquire(one->count) >= least; }))
            return false;
    return true;
}

[[nodiscard]] inline bool wait_for(const all_reduce_slots& all_reduce, const put_signal& data) {
    return data.senders == 0 ||
           wait_for_counts(all_reduce, data.sent, data.senders, *data.expected);
}

/// Sets this rank's count at each of its peers.
inline void tell(std::uint64_t* const* counts, std::int32_t size, std::uint64_t value) {
    for (std::int32_t k = 0; k < size; ++k) store_release(*counts[k], value);
}

} // namespace krylith::host
