// What one device does in a streamed product (streamed_product.cpp calls it).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/spmv/streamed_product.hpp>
#include <krylith/spmv/streaming/streamed_plan.hpp>

namespace krylith {

template <class T>
struct streamed_call {
    streamed_matrix<T> a;
    std::span<const T> x;
    std::span<T> y;
    T alpha = 1;
    T beta = 0;
    streamed_plan plan = {};
};

/// Sums that several devices hold, to be added in this order: pointers that the kernels of the
/// owner can follow.
template <class T>
struct streamed_terms {
    static constexpr int most = max_ranks * most_streamed_ranges;
    const T* of[most];
    int count;
};

/// What a device does with part k of a call; which device that is, is the plan's choice.
/// Steps up to a wait are enqueued. reserve() comes first in a call.
template <class T>
class streamed_device {
public:
    virtual ~streamed_device() = default;

    /// Memory for a call with this plan, beside x. Blocks where it allocates.
    virtual void reserve(const streamed_call<T>& call, int part) = 0;
    /// Sums of range q of this part, or of the part where it isn't by rows: valid once enqueued
    /// work is done. Row i is row i of the range, or of the matrix.
    [[nodiscard]] virtual const T* sums(int range) const = 0;
    /// Enqueues the kernels `repetitions` times; seconds of one of them, after a wait.
    virtual void repeat_kernels(int repetitions) = 0;
    [[nodiscard]] virtual double repeated_seconds() = 0;
    /// Seconds of the conversion of the last call, which is over.
    [[nodiscard]] virtual double conversion_seconds() = 0;
    /// Waits for all that was enqueued, whatever became of it.
    virtual void settle() noexcept = 0;

    /// Sends the entries [from, to) of x, before the plan is known; blocks where memory is
    /// pageable.
    virtual void send_x(std::span<const T> x, row_range range) = 0;
    /// Copies what send_x sent to the other devices.
    virtual void spread_x(std::span<const std::unique_ptr<streamed_device<T>>> devices) = 0;
    /// Sends all else. Blocks where memory is pageable.
    virtual void send_matrix(const streamed_call<T>& call, int part) = 0;
    /// Products, and y as far as this device alone knows it. After spread_x of every device.
    virtual void compute(const streamed_call<T>& call, int part) = 0;
    /// The rest of y, on its way home. After compute of every device.
    virtual void merge(const streamed_call<T>& call, int part,
                       std::span<const std::unique_ptr<streamed_device<T>>> devices) = 0;
    /// Blocks until y is the caller's.
    virtual void finish(const streamed_call<T>& call, int part) = 0;

    /// The matrix is there, after send_matrix; null on host devices, which send nothing.
    std::shared_ptr<event> arrived;
    /// The sums of each range are there, after compute.
    std::vector<std::shared_ptr<event>> done;
};

/// What a device needs to know of the group and the machine.
struct streamed_place {
    device_group group;
    numa_topology topology;
    int rank = 0;
    bool staged = false; ///< host arrays count as pageable
    bool spread = false; ///< x goes from device to device
};

KRYLITH_HOST_AND_CUDA(template <class T> [[nodiscard]] std::unique_ptr<streamed_device<T>>
                          make_streamed_device(const streamed_place& place);)

} // namespace krylith
