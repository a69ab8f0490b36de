// A product y = alpha A x + beta y with a matrix in host memory, on several devices: the call also
// distributes the matrix. It is for callers who multiply by a matrix once or twice, or whose matrix
// changes each time; for many products make an operator (spmv/matrix_operator.hpp). Source: Chen et
// al., MSREP: A Fast yet Light Sparse Matrix Framework for Multi-GPU Systems, arXiv:2209.07552.
//
// The bytes that a call moves for n rows and columns and p devices, in CSR (fp64), with a link for
// each:
//
//     values, columns    12 nnz / p     host to device, in ranges; a range is multiplied while the
//                                       next one is on its way
//     pointers            8 n / p       host to device, before them
//     x                   8 n / p       host to device, first of all; then 8 n (p - 1) / p device
//                                       to device
//     y                   8 n / p       device to host, range by range under the ranges to come;
//                                       also host to device where beta is not 0
//
// For example 16 M nonzeros and 1 M rows on 4 devices at 50 GB/s take 48 + 2 + 2 MB = 1.04 ms, and
// then the product of the last range and the copy of its results, 0.02 ms. Where entries lie by
// columns only the parts of x are sent, but results are n long on every device: owners of ranges
// sum them, 8 n (p - 1) / p bytes into each device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/device/numa.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csc.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/nonzero/coo_order.hpp>

namespace krylith {

struct streamed_options {
    /// The NUMA nodes of the devices: parts and staging memory are placed by them. Without nodes
    /// the topology is found.
    numa_topology topology = {};
    /// The ranges into which the part of a device is cut where entries lie by rows; 0: one for 12
    /// MB, at most 4.
    int ranges = 0;
    /// Treats host arrays as pageable, though they may be pinned: for tests and comparisons.
    bool staged = false;
};

/// The seconds of the phases of a call. A phase ends when the last device ends it, so work under an
/// earlier phase counts there: `kernel` and `merge` are what remains after the matrix has arrived.
/// The first four add up to `total`.
struct streamed_times {
    double partition = 0;    ///< the assignment of entries to devices
    double distribution = 0; ///< host to devices
    double kernel = 0;       ///< products, and conversions to rows
    double merge = 0;        ///< joining results, and y on the host
    double total = 0;
    /// The conversion of parts to rows (CSC, COO by columns, unsorted), on the slowest device: its
    /// own time, in part hidden under `distribution`.
    double conversion = 0;
};

/// Multiplies by matrices in host memory. Only buffers stay between calls, and they are allocated
/// only where a call is larger than all before. Results have the same bits in every call with the
/// same arguments and group. One thread at a time may use the object, and the group.
template <class T>
class streamed_product {
public:
    /// Throws usage_error for a topology that is not of this group, and unless ranges is 0 to 4.
    explicit streamed_product(device_group group, streamed_options options = {});
    streamed_product(streamed_product&&) noexcept;
    streamed_product& operator=(streamed_product&&) noexcept;
    ~streamed_product();

    /// Computes y = alpha A x + beta y; beta = 0 doesn't read y. All arrays are in host memory,
    /// with any numbers of rows and columns. Copies are fastest from pinned memory
    /// (device/numa.hpp), and otherwise go through pinned memory of the object's own. y must
    /// not overlap the others. Returns when y is complete. A must be valid (validate()): only its
    /// sizes are checked here. O(nnz / devices). Throws input_error for sizes that disagree or that
    /// 32-bit indices can't address (a part's nonzeros too), device_error where a device fails or
    /// memory is short; y is then unspecified.
    streamed_times operator()(const csr_view<T>& a, std::span<const T> x, std::span<T> y,
                              T alpha = 1, T beta = 0);
    streamed_times operator()(const csc_view<T>& a, std::span<const T> x, std::span<T> y,
                              T alpha = 1, T beta = 0);
    /// Computes the same product of coordinates. `order` is not checked: a wrong one gives a wrong
    /// y, or input_error.
    streamed_times operator()(const coo_view<T>& a, coo_order order, std::span<const T> x,
                              std::span<T> y, T alpha = 1, T beta = 0);

    /// Returns the seconds of the kernels of the last call alone, repeated on what it left on the
    /// devices (host devices: on the arrays of the call, which must still be there): the slowest
    /// device's, a mean of `repetitions`, without conversion and merging. Throws usage_error where
    /// there was no call or the last one failed, and unless repetitions >= 1.
    [[nodiscard]] double kernel_seconds(int repetitions = 20);

    [[nodiscard]] const device_group& group() const;

private:
    struct state;
    unmoved<std::unique_ptr<state>> state_;
};

} // namespace krylith
