// What one device waits for of others.
#include <krylith/comm/ranks/shared_ranks.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace krylith {

void communicator::wait_for(std::vector<std::shared_ptr<event>> reached,
                            std::span<const rank_order> pairs) const {
    std::vector<event*> events;
    for (const auto& one : reached) events.push_back(one.get());
    gather_items(collective_step::events, std::as_writable_bytes(std::span(events)),
                 sizeof(event*));
    agreement_->keep(std::move(reached)); // also where a wait throws: the others wait for them
    for (const rank_order& pair : pairs) {
        if (!is_local(pair.after)) continue;
        event* const before = events[static_cast<std::size_t>(pair.before)];
        agreement::check_step(before != nullptr); // its driver has given other pairs
        (*this)[pair.after].wait(*before);
    }
}

void communicator::join() const {
    if (!shared_) return devices_.join();
    if (ranks() == 1) return;
    if (processes_ || shared_->posted) {
        std::vector<rank_order> all;
        for (int before = 0; before < ranks(); ++before)
            for (int after = 0; after < ranks(); ++after)
                if (before != after) all.push_back({before, after});
        return processes_ ? order_processes(all) : order_machines(all);
    }
    std::vector<rank_order> pairs;
    for (int before = 0; before < ranks(); ++before)
        for (const int after : local())
            if (before != after) pairs.push_back({before, after});
    std::vector<std::shared_ptr<event>> reached(static_cast<std::size_t>(ranks()));
    for (const int rank : local()) reached[static_cast<std::size_t>(rank)] = (*this)[rank].record();
    wait_for(std::move(reached), pairs);
}

void communicator::order(std::span<const rank_order> pairs) const {
    if (!shared_) return devices_.order(pairs);
    if (processes_) return order_processes(pairs);
    if (shared_->posted) return order_machines(pairs);
    std::vector<std::shared_ptr<event>> reached(static_cast<std::size_t>(ranks()));
    for (const rank_order& pair : pairs) {
        auto& before = reached[static_cast<std::size_t>(pair.before)];
        if (is_local(pair.before) && !before) before = (*this)[pair.before].record();
    }
    wait_for(std::move(reached), pairs);
}

/// Hosts alone can order what devices of several machines do.
void communicator::order_machines(std::span<const rank_order> pairs) const {
    std::vector<rank_order> within;
    bool between = false;
    for (const rank_order& pair : pairs) {
        between = between || driver_of(pair.before) != driver_of(pair.after);
        if (is_local(pair.before) && is_local(pair.after))
            within.push_back({pair.before - first_, pair.after - first_});
    }
    if (between) return synchronize_all();
    devices_.order(within);
}

/// Marks are set before the drivers meet, and awaited after that: nobody waits for a driver that
/// has failed before it came here.
void communicator::order_processes(std::span<const rank_order> pairs) const {
    peer_marks& marks = processes_->marks;
    const std::vector<int>& numbers = shared_->numbers;
    const auto number = [&](int rank) { return numbers[static_cast<std::size_t>(rank)]; };
    const std::uint64_t own = marks.next();
    std::vector<rank_order> within;
    for (const rank_order& pair : pairs) {
        if (!is_local(pair.before)) continue;
        if (is_local(pair.after))
            within.push_back({pair.before - first_, pair.after - first_});
        else
            marks.set(number(pair.before), number(pair.after), own);
    }
    std::vector<std::uint64_t> counts;
    for (const auto& bytes :
         agreement_->all_gather(collective_step::events, std::as_bytes(std::span(&own, 1)))) {
        agreement::check_step(bytes.size() == sizeof own);
        std::memcpy(&counts.emplace_back(), bytes.data(), sizeof own);
    }
    for (const rank_order& pair : pairs) {
        if (is_local(pair.before) || !is_local(pair.after)) continue;
        marks.await(number(pair.before), number(pair.after),
                    counts[static_cast<std::size_t>(driver_of(pair.before))]);
    }
    devices_.order(within);
}

} // namespace krylith
