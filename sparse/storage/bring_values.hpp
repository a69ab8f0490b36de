// New values for blocks from the host, those of several devices side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/partition/nonzero/entry_list.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// Adds the transfers of entries [first, first + count) of a list from the values of all entries.
/// The list is read when they are made.
template <class V>
void add_uploads(device& device, const V* all, const entry_list& entries, std::int64_t first,
                 std::int64_t count, V* to, std::vector<upload_request>& requests) {
    constexpr std::size_t few = 16; // each is a transfer of its own
    if (!entries.ranges().empty() && entries.ranges().size() <= few)
        return entries.for_ranges(first, count, [&](row_range range, std::int64_t at) {
            requests.push_back({&device, to + at, all + range.begin,
                                static_cast<std::size_t>(range.size()) * sizeof(V)});
        });
    requests.push_back(
        {&device, to, nullptr, static_cast<std::size_t>(count) * sizeof(V),
         [all, &entries, first](std::byte* piece, std::size_t begin, std::size_t size) {
             entries.read(all, first + static_cast<std::int64_t>(begin / sizeof(V)),
                          static_cast<std::int64_t>(size / sizeof(V)),
                          reinterpret_cast<V*>(piece)); // NOLINT: pieces are of whole values
         }});
}

/// A block, and which of the values of a matrix it has.
template <class T>
struct value_delivery {
    krylith::device* device;
    value_intake<T>* to;
    const entry_list* entries;
};

/// Brings all values to all blocks. It returns when the host's array of them may be reused.
template <class T>
void bring_values(const T* all, std::span<const value_delivery<T>> deliveries) {
    std::vector<std::int64_t> brought(deliveries.size(), 0);
    std::vector<typename value_intake<T>::piece> pieces(deliveries.size());
    for (;;) {
        std::vector<upload_request> requests;
        for (std::size_t k = 0; k < deliveries.size(); ++k) {
            const value_delivery<T>& d = deliveries[k];
            pieces[k] = {};
            const std::int64_t left = d.entries->size() - brought[k];
            if (left == 0) continue;
            pieces[k] = d.to->next_piece(brought[k]);
            pieces[k].size = std::min(pieces[k].size, left);
            if (pieces[k].size == 0)
                throw usage_error("update: " + std::to_string(left) +
                                  " values more than the block has");
            add_uploads(*d.device, all, *d.entries, brought[k], pieces[k].size, pieces[k].to,
                        requests);
        }
        if (requests.empty()) break;
        upload_together(requests);
        for (std::size_t k = 0; k < deliveries.size(); ++k) {
            if (pieces[k].size == 0) continue;
            deliveries[k].to->take_piece(brought[k], pieces[k]);
            brought[k] += pieces[k].size;
        }
    }
    for (const value_delivery<T>& d : deliveries) d.to->end_update();
}

template <class T>
void bring_values(device& device, value_intake<T>& to, std::span<const T> values) {
    const entry_list entries(row_range{0, static_cast<std::int64_t>(values.size())});
    const value_delivery<T> one{&device, &to, &entries};
    bring_values(values.data(), std::span<const value_delivery<T>>(&one, 1));
}

} // namespace krylith
