// Numbers of messages between ranks, which one side of each knows and both need.
#pragma once

#include <cstddef>
#include <vector>

#include <krylith/comm/communicator.hpp>

namespace krylith {

/// Returns of(k) for each of `count` messages, which all drivers list in the same order, as the
/// driver of rank knower(k) has it. Collective.
template <class Knower, class Of>
[[nodiscard]] auto of_messages(const communicator& comm, std::size_t count, const Knower& knower,
                               const Of& of) {
    using value = decltype(of(std::size_t{0}));
    std::vector<std::vector<value>> by_knower(static_cast<std::size_t>(comm.ranks()));
    for (std::size_t k = 0; k < count; ++k)
        if (comm.is_local(knower(k)))
            by_knower[static_cast<std::size_t>(knower(k))].push_back(of(k));
    comm.all_gather_lists(by_knower);
    std::vector<std::size_t> next(by_knower.size());
    std::vector<value> result;
    for (std::size_t k = 0; k < count; ++k) {
        const auto rank = static_cast<std::size_t>(knower(k));
        result.push_back(by_knower[rank][next[rank]++]);
    }
    return result;
}

} // namespace krylith
