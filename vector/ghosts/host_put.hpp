// The host side of ghost_push: what a kernel that writes an operand does before and after its loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/device/host/host_team.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/scalar/host_signal.hpp>

namespace krylith::host {

/// Peers may send again: all earlier kernels of this device, and so all readers of its ghosts, are
/// done. Usually the product has already said so.
template <class T>
void allow_next_push(const mailbox& mail, const ghost_push<T>& push) {
    if (push.ordered || *push.acknowledged == *push.pushed) return;
    tell(mail, push.readies, push.from, *push.pushed);
    *push.acknowledged = *push.pushed;
}

/// All entries to all receivers. A peer after the other, each with all threads.
template <class T>
void send_all(const ghost_push<T>& push, const T* values, int threads) {
    constexpr std::int64_t worth_a_team = 32768;
    in_team(push.dense < worth_a_team ? 1 : threads, [&](int member, int members) {
        const std::int64_t begin = push.dense * member / members;
        const std::int64_t end = push.dense * (member + 1) / members;
        for (int peer = 0; peer < max_ranks; ++peer)
            if ((push.to >> peer & 1) != 0)
                std::copy(values + begin, values + end, push.ghosts[peer] + begin);
    });
}

/// Sends the entries that the lists name.
template <class T>
void send_listed(const ghost_push<T>& push, const T* values, int threads) {
    const std::int64_t first = push.sending_tiles > 0 ? push.first_entry[0] : 0;
    const std::int64_t count =
        push.sending_tiles > 0 ? push.first_entry[push.sending_tiles] - first : 0;
    constexpr std::int64_t worth_a_team = 8192;
    in_team(count < worth_a_team ? 1 : threads, [&](int member, int members) {
        const std::int64_t end = first + count * (member + 1) / members;
        for (std::int64_t e = first + count * member / members; e < end; ++e) {
            const push_entry entry = push.entries[e];
            push.ghosts[entry.peer][entry.position] = values[entry.row];
        }
    });
}

/// Sends the entries of `values`. False if a peer failed.
template <class T>
[[nodiscard]] bool send(const mailbox& mail, const ghost_push<T>& push, const T* values,
                        int threads) {
    const std::uint64_t pushed = *push.pushed;
    if (push.to != 0) {
        if (!push.ordered && !wait_for_words(mail, push.ready, push.to, pushed)) return false;
        if (push.dense != 0)
            send_all(push, values, threads);
        else
            send_listed(push, values, threads);
        tell(mail, push.sent, push.to, pushed + 1);
    }
    *push.pushed = pushed + 1; // counted by ranks that only receive, too
    return true;
}

} // namespace krylith::host
