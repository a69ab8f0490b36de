// What one device does in the paper's versions (paper_product.hpp): one step after the other, with
// the kernels of the library's product.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/device/device.hpp>
#include <krylith/partition/pcsr.hpp>
#include <krylith/spmv/streaming/streamed_plan.hpp>

namespace krylith::bench {

class paper_device {
public:
    virtual ~paper_device() = default;

    /// Blocks until the range of the matrix and the entries of x that it needs are there.
    /// `pointers` are those of the range, from 0, of CSR and CSC.
    virtual void upload(const streamed_matrix<double>& a, const major_range& range,
                        std::span<const std::int32_t> pointers, std::span<const double> x) = 0;
    /// Enqueues the conversion to rows where they don't lie so, and the product.
    virtual void multiply() = 0;
    /// Blocks; the sums of the range's rows, or where entries don't lie by rows, of all rows. Valid
    /// until the next call.
    [[nodiscard]] virtual std::span<const double> download() = 0;

    /// Enqueues the kernels `repetitions` times; seconds of one of them, after a wait.
    virtual void repeat_kernels(int repetitions) = 0;
    [[nodiscard]] virtual double repeated_seconds() = 0;
    /// Seconds of the conversion of the last call, which is over.
    [[nodiscard]] virtual double conversion_seconds() = 0;
};

/// Nothing is copied, since memory is shared: the arrays of the last upload must still be there.
[[nodiscard]] std::unique_ptr<paper_device> make_host_paper_device(std::shared_ptr<device> on);
/// Only with CUDA.
[[nodiscard]] std::unique_ptr<paper_device> make_cuda_paper_device(std::shared_ptr<device> on);

} // namespace krylith::bench
