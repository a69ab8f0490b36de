// Partial sums on other devices, made readable for the kernels of their owner, which are enqueued
// after this: by an event and the peer's memory, or by a copy into `inbox` where that is out of
// reach.
#pragma once

#include <memory>
#include <span>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>

namespace krylith {

template <class T>
using one_shot_lanes = std::span<const std::unique_ptr<one_shot_lane<T>>>;

/// `count` sums of piece j of a part from `first` on, where a kernel of place.rank can read them.
template <class T>
[[nodiscard]] const T* readable_sums(const one_shot_call<T>& call, const one_shot_place& place,
                                     one_shot_lanes<T> lanes, int part, int j, std::int64_t first,
                                     std::int64_t count, T* inbox) {
    const int from = call.plan.device[as_size(part)];
    const one_shot_lane<T>& lane = *lanes[as_size(from)];
    const T* const theirs = lane.sums(j) + first;
    if (from == place.rank || count == 0) return theirs;
    if (place.group.path(from, place.rank) == transport::direct) {
        place.group[place.rank].wait(*lane.done[as_size(j)]);
        return theirs;
    }
    // The inbox is read by work of this device that is over: a call ends by waiting for all.
    place.group.copy(from, theirs, place.rank, inbox, as_size(count) * sizeof(T));
    place.group[place.rank].wait(*place.group[from].record());
    return inbox;
}

/// By rows: what later pieces have of the last row of piece q. inbox: one_shot_terms<T>::most.
template <class T>
[[nodiscard]] one_shot_terms<T> terms_of_last_row(const one_shot_call<T>& call,
                                                  const one_shot_place& place,
                                                  one_shot_lanes<T> lanes, int q, T* inbox) {
    one_shot_terms<T> terms{};
    const int pieces = call.plan.pieces;
    for (int k = q + 1; k <= call.plan.last[as_size(q)]; ++k) {
        if (call.plan.shares[as_size(k)].entries() == 0) continue;
        terms.of[terms.count] =
            readable_sums(call, place, lanes, k / pieces, k % pieces, 0, 1, inbox + terms.count);
        ++terms.count;
    }
    return terms;
}

/// Otherwise: what every part has of the results of `part`. inbox: parts times as many.
template <class T>
[[nodiscard]] one_shot_terms<T> terms_of_range(const one_shot_call<T>& call,
                                               const one_shot_place& place, one_shot_lanes<T> lanes,
                                               int part, T* inbox) {
    one_shot_terms<T> terms{};
    const row_range range = call.plan.results_of(part);
    for (int k = 0; k < call.plan.parts(); ++k)
        terms.of[terms.count++] = readable_sums(call, place, lanes, k, 0, range.begin, range.size(),
                                                inbox + as_size(k) * as_size(range.size()));
    return terms;
}

} // namespace krylith
