// New values for blocks from the host, those of several devices side by side.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// A block and its values, in its order.
template <class T>
struct value_delivery {
    krylith::device* device;
    value_intake<T>* to;
    std::span<const T> values;
};

/// Brings all values to all blocks. It returns when the host's arrays may be reused.
template <class T>
void bring_values(std::span<const value_delivery<T>> deliveries) {
    std::vector<std::int64_t> brought(deliveries.size(), 0);
    std::vector<typename value_intake<T>::piece> pieces(deliveries.size());
    for (;;) {
        std::vector<upload_request> requests;
        for (std::size_t k = 0; k < deliveries.size(); ++k) {
            const value_delivery<T>& d = deliveries[k];
            pieces[k] = {};
            if (brought[k] == static_cast<std::int64_t>(d.values.size())) continue;
            const std::int64_t left = static_cast<std::int64_t>(d.values.size()) - brought[k];
            pieces[k] = d.to->next_piece(brought[k]);
            pieces[k].size = std::min(pieces[k].size, left);
            if (pieces[k].size == 0)
                throw usage_error("update: " + std::to_string(left) +
                                  " values more than the block has");
            requests.push_back({d.device, pieces[k].to, d.values.data() + brought[k],
                                static_cast<std::size_t>(pieces[k].size) * sizeof(T)});
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
    const value_delivery<T> one{&device, &to, values};
    bring_values(std::span<const value_delivery<T>>(&one, 1));
}

} // namespace krylith
