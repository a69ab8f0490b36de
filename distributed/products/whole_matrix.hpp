// The whole of a matrix over a group in the memory of one of its devices.
#pragma once

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith {

/// Returns all rows, with global columns, on the device of rank `to`; an empty block for drivers
/// that don't have it. They travel from device to device. Enqueued: what the devices enqueue
/// afterwards comes after it. Collective.
template <class T>
[[nodiscard]] device_csr<T> whole_on(int to, const distributed_csr<T>& a);

/// Enqueues the values of all rows likewise: [a.nonzeros()] on the device of rank `to`, whose
/// driver gives the array. Collective.
template <class T>
void bring_values(int to, const distributed_csr<T>& a, T* values);

} // namespace krylith
