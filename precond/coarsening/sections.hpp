// Arrays that every rank has whole, with an entry for each aggregate: each rank is right about the
// section of the aggregates that it owns, or has a part of every sum.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/precond/coarsening/row_steps.hpp>
#include <krylith/spmv/products/settled_on_failure.hpp>

namespace krylith::aggregation {

/// Enqueues copies of each rank's own section to all other ranks.
template <class V>
void gather_sections(const device_group& group, const row_partition& sections,
                     std::span<V* const> arrays) {
    if (group.size() == 1) return;
    const settled_on_failure settled(group);
    group.join();
    for (int from = 0; from < group.size(); ++from) {
        const row_range own = sections.owned(from);
        if (own.size() == 0) continue;
        for (int to = 0; to < group.size(); ++to)
            if (to != from)
                group.copy(from, arrays[static_cast<std::size_t>(from)] + own.begin, to,
                           arrays[static_cast<std::size_t>(to)] + own.begin,
                           static_cast<std::size_t>(own.size()) * sizeof(V));
    }
    group.join();
}

/// Enqueues what makes each rank's own section right: Join, a step, joins it with those of all
/// other ranks.
template <class Join, class V>
void join_sections(const device_group& group, const row_partition& sections,
                   std::span<V* const> arrays) {
    if (group.size() == 1) return;
    for (int to = 0; to < group.size(); ++to) {
        const row_range own = sections.owned(to);
        if (own.size() == 0) continue;
        const buffer<V> other(group.handle(to), static_cast<std::size_t>(own.size()),
                              "sections of other ranks");
        const settled_on_failure settled(group); // before `other` is freed
        for (int from = 0; from < group.size(); ++from) {
            if (from == to) continue;
            group.join();
            group.copy(from, arrays[static_cast<std::size_t>(from)] + own.begin, to, other.data(),
                       static_cast<std::size_t>(own.size()) * sizeof(V));
            group.join();
            Join step;
            step.other = other.data();
            step.own = arrays[static_cast<std::size_t>(to)] + own.begin;
            visit_rows(group[to], own.size(), 1, step);
        }
    }
    group.join();
}

} // namespace krylith::aggregation
