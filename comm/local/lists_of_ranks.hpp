// The functions of a communicator for lists, which comm/communicator.hpp includes.
#pragma once

#include <krylith/comm/communicator.hpp>

namespace krylith {

template <class V>
requires sent_by_value<V>
void communicator::all_gather_lists(std::vector<std::vector<V>>& by_rank) const {
    if (has_one_driver()) return;
    std::vector<std::uint64_t> sizes;
    for (const auto& list : by_rank) sizes.push_back(list.size());
    all_gather(sizes);
    std::vector<V> joined;
    for (const int rank : local()) {
        const auto& list = by_rank[static_cast<std::size_t>(rank)];
        joined.insert(joined.end(), list.begin(), list.end());
    }
    std::size_t rank = 0;
    for (const std::vector<std::byte>& of_driver : agreement_->all_gather(
             collective_step::lists, std::as_bytes(std::span<const V>(joined)))) {
        const std::byte* from = of_driver.data();
        for (const std::byte* const end = from + of_driver.size(); rank < by_rank.size(); ++rank) {
            const std::size_t bytes = sizes[rank] * sizeof(V);
            if (bytes > static_cast<std::size_t>(end - from)) break;
            by_rank[rank].resize(sizes[rank]);
            if (bytes != 0) std::memcpy(by_rank[rank].data(), from, bytes);
            from += bytes;
        }
    }
    agreement::check_step(rank == by_rank.size());
}

template <class V>
requires sent_by_value<V> std::vector<addressed_list<V>>
communicator::deliver(std::vector<addressed_list<V>> given)
const {
    if (has_one_driver()) return given;
    struct head {
        int from;
        int to;
        std::uint64_t count;
    };
    std::vector<std::vector<std::byte>> sent(static_cast<std::size_t>(drivers()));
    std::vector<addressed_list<V>> result;
    for (addressed_list<V>& list : given) {
        if (is_local(list.to)) {
            result.push_back(std::move(list));
            continue;
        }
        const head of{list.from, list.to, list.items.size()};
        std::vector<std::byte>& to = sent[static_cast<std::size_t>(driver_of(list.to))];
        for (const auto bytes :
             {std::as_bytes(std::span(&of, 1)), std::as_bytes(std::span(list.items))})
            to.insert(to.end(), bytes.begin(), bytes.end());
    }
    for (const std::vector<std::byte>& of_driver : agreement_->all_to_all(std::move(sent)))
        for (std::size_t at = 0; at < of_driver.size();) {
            head of;
            std::memcpy(&of, of_driver.data() + at, sizeof of);
            at += sizeof of;
            addressed_list<V> list{of.from, of.to, std::vector<V>(of.count)};
            const std::size_t bytes = of.count * sizeof(V);
            if (bytes != 0) std::memcpy(list.items.data(), of_driver.data() + at, bytes);
            at += bytes;
            result.push_back(std::move(list));
        }
    return result;
}

} // namespace krylith
