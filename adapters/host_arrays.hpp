// Vectors of host devices in one array of the caller, without a copy.
#pragma once

#include <span>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// Whether an array of n entries in host memory, in global order, can serve as a vector of this
/// layout. All devices must be host devices, rows must be in the caller's order, and either each
/// device holds its own rows only (operator halo) or there is one device.
[[nodiscard]] inline bool can_borrow_host_array(const layout& layout) {
    return layout.comm.kind() == backend::host &&
           (layout.kind == coherence::owned || layout.comm.ranks() == 1) && !layout.order;
}

/// Returns the array as a vector: solvers read and write it in place. It must outlive the vector.
/// Throws usage_error for an array whose length is not the layout's, and where
/// can_borrow_host_array() is false (use vector::upload() and download() there). Of several drivers
/// each gives an array of n entries, of which those of its local ranks are read and written: all
/// may give the same one. Not collective: what it throws is this driver's alone.
template <class T>
[[nodiscard]] vector<T> borrow_host_array(const layout_handle& layout, std::span<T> array) {
    if (!can_borrow_host_array(*layout))
        throw usage_error(
            "an array in host memory can't be a vector of " + std::to_string(layout->comm.ranks()) +
            " " + to_string(layout->comm.kind()) + " devices with this operator: upload() it");
    if (static_cast<std::int64_t>(array.size()) != layout->size())
        throw usage_error("an array of " + std::to_string(array.size()) +
                          " entries for a vector of " + std::to_string(layout->size()));
    const auto parts = by_rank(
        layout->comm, [&](int rank) { return array.data() + layout->rows.owned(rank).begin; });
    return vector<T>::borrow(layout, parts);
}

/// Returns the array as a vector that is only read, such as a right-hand side. Same requirements.
template <class T>
[[nodiscard]] const vector<T> borrow_host_array(const layout_handle& layout, // NOLINT: read-only
                                                std::span<const T> array) {
    return borrow_host_array(layout, std::span<T>(const_cast<T*>(array.data()), array.size()));
}

} // namespace krylith
