// Arrays of NumPy. The facade (krylith/_arrays.py) has made them what these types say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace krylith::python {

namespace nb = nanobind;

template <class T>
using host_array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
[[nodiscard]] std::span<T> as_span(const host_array<T>& array) {
    return {array.data(), array.size()};
}

/// Returns an array of NumPy's that owns the values.
template <class T>
[[nodiscard]] nb::object copied(std::vector<T> values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = owned->data();
    const std::size_t size = owned->size();
    const nb::capsule owner(owned.release(), [](void* p) noexcept {
        delete static_cast<std::vector<T>*>(p); // NOLINT: a capsule owns it
    });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

} // namespace krylith::python
