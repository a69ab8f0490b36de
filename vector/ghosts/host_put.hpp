// The host side of ghost_put: what a kernel that writes a domain vector does before and after its
// loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/device/host/host_team.hpp>
#include <krylith/vector/execution/host_signal.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>

namespace krylith::host {

/// Tells peers that they may send again: all earlier kernels of this device, and so all readers of
/// its ghosts, are done. Usually the product has already told them.
template <class T>
void give_credit(const ghost_put<T>& put) {
    const channel_view& channel = put.channel;
    if (put.ordered || *channel.credited == *channel.put_count) return;
    tell(channel.peer_credits, channel.senders, *channel.put_count);
    *channel.credited = *channel.put_count;
}

/// Sends all entries to all receivers, one peer after the other, each with all threads.
template <class T>
void send_all(const ghost_put<T>& put, const T* values, int threads) {
    constexpr std::int64_t worth_a_team = 32768;
    in_team(put.dense < worth_a_team ? 1 : threads, [&](int thread, int team) {
        const std::int64_t begin = put.dense * thread / team;
        const std::int64_t end = put.dense * (thread + 1) / team;
        for (int k = 0; k < put.channel.receivers; ++k)
            std::copy(values + begin, values + end, put.ghosts[k] + begin);
    });
}

/// Sends the entries that the lists name.
template <class T>
void send_listed(const ghost_put<T>& put, const T* values, int threads) {
    const std::int64_t first = put.sending_tiles > 0 ? put.first_entry[0] : 0;
    const std::int64_t count =
        put.sending_tiles > 0 ? put.first_entry[put.sending_tiles] - first : 0;
    constexpr std::int64_t worth_a_team = 8192;
    in_team(count < worth_a_team ? 1 : threads, [&](int thread, int team) {
        const std::int64_t end = first + count * (thread + 1) / team;
        for (std::int64_t e = first + count * thread / team; e < end; ++e) {
            const put_entry entry = put.entries[e];
            put.ghosts[entry.receiver][entry.position] = values[entry.row];
        }
    });
}

/// Sends the entries of `values` and signals the put. Returns false if a peer failed.
template <class T>
[[nodiscard]] bool send(const all_reduce_slots& all_reduce, const ghost_put<T>& put,
                        const T* values, int threads) {
    const channel_view& channel = put.channel;
    const std::uint64_t put_count = *channel.put_count;
    if (channel.receivers != 0) {
        if (!put.ordered &&
            !wait_for_counts(all_reduce, channel.credits, channel.receivers, put_count))
            return false;
        if (put.dense != 0)
            send_all(put, values, threads);
        else
            send_listed(put, values, threads);
        tell(channel.signals, channel.receivers, put_count + 1);
    }
    *channel.put_count = put_count + 1; // ranks that only receive count, too
    return true;
}

} // namespace krylith::host
