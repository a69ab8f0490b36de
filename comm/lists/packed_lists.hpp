// Lists of numbers as the bytes that drivers give each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <krylith/comm/agreement/agreement.hpp>

namespace krylith {

/// What one rank has for another, in host memory.
template <class V>
struct addressed_list {
    int from = 0;
    int to = 0;
    std::vector<V> items;
};

/// The lists of local ranks, one after the other.
template <class V>
[[nodiscard]] std::vector<V> joined_lists(const std::vector<std::vector<V>>& by_rank,
                                          std::span<const int> local) {
    std::vector<V> joined;
    for (const int rank : local) {
        const auto& list = by_rank[static_cast<std::size_t>(rank)];
        joined.insert(joined.end(), list.begin(), list.end());
    }
    return joined;
}

/// Fills lists of the sizes [ranks] from what all drivers have joined.
template <class V>
void take_joined_lists(const std::vector<std::vector<std::byte>>& of_drivers,
                       const std::vector<std::uint64_t>& sizes,
                       std::vector<std::vector<V>>& by_rank) {
    std::size_t rank = 0;
    for (const std::vector<std::byte>& of_driver : of_drivers) {
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

namespace detail {

struct list_head {
    int from;
    int to;
    std::uint64_t count;
};

} // namespace detail

/// Adds a list to the bytes for a driver.
template <class V>
void pack_list(const addressed_list<V>& list, std::vector<std::byte>& bytes) {
    const detail::list_head of{list.from, list.to, list.items.size()};
    for (const auto part : {std::as_bytes(std::span(&of, 1)), std::as_bytes(std::span(list.items))})
        bytes.insert(bytes.end(), part.begin(), part.end());
}

/// Adds the lists in the bytes of a driver to others.
template <class V>
void unpack_lists(const std::vector<std::byte>& bytes, std::vector<addressed_list<V>>& lists) {
    for (std::size_t at = 0; at < bytes.size();) {
        detail::list_head of;
        std::memcpy(&of, bytes.data() + at, sizeof of);
        at += sizeof of;
        addressed_list<V> list{of.from, of.to, std::vector<V>(of.count)};
        const std::size_t size = of.count * sizeof(V);
        if (size != 0) std::memcpy(list.items.data(), bytes.data() + at, size);
        at += size;
        lists.push_back(std::move(list));
    }
}

} // namespace krylith
