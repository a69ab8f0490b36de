// y = alpha A x + beta y once, from a matrix in host memory, on several devices: distributing it is
// part of the call. For callers who multiply by a matrix once or twice, or whose matrix changes
// each time; who multiplies often makes an operator (matrix_operator.hpp).
// (Chen et al., MSREP: A Fast yet Light Sparse Matrix Framework for Multi-GPU Systems,
// arXiv:2209.07552.)
//
// What a call moves, for n rows and columns and p devices, in CSR (fp64), a link each:
//
//     values, columns    12 nnz / p     host to device, in ranges; a range is multiplied while the
//                                       next one is on its way
//     pointers            8 n / p       host to device, before them
//     x                   8 n / p       host to device, first of all; then 8 n (p - 1) / p device
//                                       to device
//     y                   8 n / p       device to host, range by range under the ranges to come;
//                                       also host to device where beta is not 0
//
// So 16 M nonzeros and 1 M rows on 4 devices at 50 GB/s take 48 + 2 + 2 MB = 1.04 ms, and then the
// product and the way home of the last range, 0.02 ms. By columns x is sent as its parts only, but
// results are n long on every device: these are summed by owners of ranges, 8 n (p - 1) / p bytes
// into each device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/device/device_group.hpp>
#include <krylith/device/numa.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csc.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/nonzero/coo_order.hpp>

namespace krylith {

struct streamed_options {
    /// Where the devices are: parts and staging memory are placed by it. Without nodes it
    /// is found.
    numa_topology topology = {};
    /// The part of a device is cut into so many ranges where entries lie by rows; 0: one for 12 MB,
    /// at most 4.
    int ranges = 0;
    /// Host arrays count as pageable, though they may be pinned: for tests and comparisons.
    bool staged = false;
};

/// Seconds. Phases end when the last device ends them, so what runs under an earlier phase counts
/// there: `kernel` and `merge` are what is left when the matrix has arrived. The first
/// four add up to `total`.
struct streamed_times {
    double partition = 0;    ///< who gets what
    double distribution = 0; ///< host to devices
    double kernel = 0;       ///< products, and conversions to rows
    double merge = 0;        ///< putting results together, and y on the host
    double total = 0;
    /// Turning parts into rows (CSC, COO by columns, unsorted), on the slowest device: its own
    /// time, in part hidden under `distribution`.
    double conversion = 0;
};

/// Keeps buffers between calls, and allocates only where a call is larger than all before; nothing
/// else is kept. Results have the same bits in every call with the same arguments and
/// group. One thread at a time may use it, and the group.
template <class T>
class streamed_product {
public:
    /// Throws usage_error for a topology that is not of this group, and unless ranges is 0 to 4.
    explicit streamed_product(device_group group, streamed_options options = {});
    streamed_product(streamed_product&&) noexcept;
    streamed_product& operator=(streamed_product&&) noexcept;
    ~streamed_product();

    /// y = alpha A x + beta y; beta = 0 doesn't read y. All arrays are host memory, any rows and
    /// columns; copies are fastest from pinned memory (node_memory.hpp), and otherwise go through
    /// pinned memory of the product's own. y must not overlap the others. Returns when y is there.
    /// A must be valid (validate()): only its sizes are checked here. O(nnz / devices).
    /// Throws input_error for sizes that disagree or that 32-bit indices can't address (a part's
    /// nonzeros too), device_error where a device fails or memory is short; y is then unspecified.
    streamed_times operator()(const csr_view<T>& a, std::span<const T> x, std::span<T> y,
                              T alpha = 1, T beta = 0);
    streamed_times operator()(const csc_view<T>& a, std::span<const T> x, std::span<T> y,
                              T alpha = 1, T beta = 0);
    /// `order` is believed. A wrong one gives a wrong y, or input_error.
    streamed_times operator()(const coo_view<T>& a, coo_order order, std::span<const T> x,
                              std::span<T> y, T alpha = 1, T beta = 0);

    /// Seconds of the kernels of the last call alone, on what it left on the devices (host devices:
    /// on the arrays of the call, which must still be there): those of the slowest device, a mean
    /// of `repetitions`, without conversion and merging. Throws usage_error where the last call did
    /// not end, or there was none, and unless repetitions >= 1.
    [[nodiscard]] double kernel_seconds(int repetitions = 20);

    [[nodiscard]] const device_group& group() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

extern template class streamed_product<double>;
extern template class streamed_product<float>;

} // namespace krylith
