// The eight products on a host device, for any semiring.
#pragma once

#include <krylith/device/host/host_device.hpp>
#include <krylith/spmspv/kernels/product_host_columns.hpp>
#include <krylith/spmspv/kernels/product_host_rows.hpp>
#include <krylith/spmspv/kernels/product_host_sort.hpp>

namespace krylith::host {

template <class S, class M>
void multiply(device& device, spmspv::kernel k, const spmspv::product_arguments<S, M>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([k, a, threads = host.threads()] {
        if (spmspv::direction_of(k) != spmspv::direction::push)
            multiply_by_rows(k, a, threads);
        else if (spmspv::write_back_of(k) == spmspv::write_back::sort)
            multiply_and_sort(k, a, threads);
        else
            multiply_by_columns(k, a, threads);
    });
}

} // namespace krylith::host
