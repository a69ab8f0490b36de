// A product function of the user as the block of a device.
#pragma once

#include <memory>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/external/held_entries.hpp>
#include <krylith/sparse/external/product_call.hpp>

namespace krylith {

/// The arguments of the product function of a device, but for x, y and the stream.
template <class T>
struct external_product {
    product_function<T> function;
    product_kind kind;
    int rank;
    row_range rows;
    held_entries x;
};

KRYLITH_HOST_AND_CUDA(
    template <class T> [[nodiscard]] std::unique_ptr<device_matrix<T>> make_external(
        std::shared_ptr<device> device, const external_product<T>& product);)

} // namespace krylith
