// Partial sums on other devices, made readable for the kernels of their owner, which are enqueued
// after this: by an event and the peer's memory, or by a copy into `own_slots` where that is out of
// reach.
#pragma once

#include <memory>
#include <span>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>

namespace krylith {

template <class T>
using streamed_devices = std::span<const std::unique_ptr<streamed_device<T>>>;

/// `count` sums of range j of a part from `first` on, where a kernel of place.rank can read them.
template <class T>
[[nodiscard]] const T* readable_sums(const streamed_call<T>& call, const streamed_place& place,
                                     streamed_devices<T> devices, int part, int j,
                                     std::int64_t first, std::int64_t count, T* own_slots) {
    const int from = call.plan.device[as_size(part)];
    const streamed_device<T>& device = *devices[as_size(from)];
    const T* const theirs = device.sums(j) + first;
    if (from == place.rank || count == 0) return theirs;
    if (place.group.path(from, place.rank) == peer_path::direct) {
        place.group[place.rank].wait(*device.done[as_size(j)]);
        return theirs;
    }
    // The slots are read by work of this device that is over: a call ends by waiting for all.
    place.group.copy(from, theirs, place.rank, own_slots, as_size(count) * sizeof(T));
    place.group[place.rank].wait(*place.group[from].record());
    return own_slots;
}

/// Returns, for forms by rows, what later ranges have of the last row of range q. own_slots has
/// streamed_terms<T>::most places.
template <class T>
[[nodiscard]] streamed_terms<T>
terms_of_last_row(const streamed_call<T>& call, const streamed_place& place,
                  streamed_devices<T> devices, int q, T* own_slots) {
    streamed_terms<T> terms{};
    const int ranges = call.plan.ranges;
    const int last = call.plan.streamed.last_holder(q);
    for (int k = q + 1; k <= last; ++k) {
        if (call.plan.streamed.ranges[as_size(k)].entries() == 0) continue;
        terms.of[terms.count] = readable_sums(call, place, devices, k / ranges, k % ranges, 0, 1,
                                              own_slots + terms.count);
        ++terms.count;
    }
    return terms;
}

/// Otherwise: what every part has of the results of `part`. own_slots: parts times as many.
template <class T>
[[nodiscard]] streamed_terms<T>
terms_of_range(const streamed_call<T>& call, const streamed_place& place,
               streamed_devices<T> devices, int part, T* own_slots) {
    streamed_terms<T> terms{};
    const row_range range = call.plan.results.owned(part);
    for (int k = 0; k < call.plan.parts(); ++k)
        terms.of[terms.count++] =
            readable_sums(call, place, devices, k, 0, range.begin, range.size(),
                          own_slots + as_size(k) * as_size(range.size()));
    return terms;
}

} // namespace krylith
