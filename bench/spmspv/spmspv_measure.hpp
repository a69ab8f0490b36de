// The times of the eight kernels for a sparse x, with the conversions that each needs.
//
// x is given anew before each product: the arrays of one form are copied into it on the device,
// which drops all others, so that each product pays for what it reads. A batch of steps "give x,
// multiply" and one of as many steps "give x" are timed alternately, each from an idle device to an
// idle device; the difference, over the steps, is the time of a product. What a batch costs once
// (the host's wait, starting the queue) drops out; so does giving, unless the host is slower to
// enqueue it than the device to run it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/bench/spmspv/spmspv_vectors.hpp>
#include <krylith/device/device.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/spmspv/csr_csc_pair/matrix_features.hpp>
#include <krylith/spmspv/product/kernel_name.hpp>

namespace krylith::bench {

struct spmspv_effort {
    int repetitions = 3;   ///< batches, at least; 10 times as many at most
    double seconds = 5e-4; ///< and until products have run this long
    double batch = 1.5e-4; ///< seconds of a batch, about; 1 to 64 steps
    /// The batches that count: 0.5 is the median; 0 the least, where others use the machine.
    double quantile = 0.5;
    /// Measures the processor time of a host device of one thread, which others that use the
    /// machine hardly affect, instead of the time that passes.
    bool processor_time = false;

    /// Throws usage_error naming the first value that is not allowed.
    void check() const;
};

/// The forms of x that are given: pairs alone, dense alone, dense with bits.
enum class given_form : std::uint8_t { pairs, dense, bits };
inline constexpr std::array given_names = {"pairs", "dense", "bits"};
/// The forms of y that are wanted.
inline constexpr std::array wanted_names = {"pairs", "dense"};

struct spmspv_numbers {
    std::vector<spmspv::kernel> kernels; ///< those that were timed
    /// The seconds by form given, form wanted and kernel; 0 for kernels that were not timed.
    std::array<std::array<std::array<double, spmspv::kernel_count>, wanted_names.size()>,
               given_names.size()>
        seconds{};
    std::int64_t frontier_nonzeros = 0; ///< effective nonzeros
    double count_seconds = 0;           ///< to count these, from pairs, with the wait
    std::vector<std::string> void_because;
};

/// A matrix on a device. Values are drawn anew, positive, so that sums don't cancel and errors are
/// relative.
class spmspv_subject {
public:
    virtual ~spmspv_subject() = default;
    [[nodiscard]] virtual const spmspv::matrix_features& features() const = 0;
    /// Times kernels, each after a check of its result against that of spmv. `kernels` has each
    /// once.
    [[nodiscard]] virtual spmspv_numbers measure(const test_vector& x, const spmspv_effort& effort,
                                                 std::span<const spmspv::kernel> kernels) = 0;
    /// Times all kernels.
    [[nodiscard]] spmspv_numbers measure(const test_vector& x, const spmspv_effort& effort);
};

/// Makes a subject. `semiring` is plus-times, plus-second, or-and, min-plus or min-column;
/// `precision` is fp32 or fp64, of the matrix' values too. Throws usage_error for others,
/// device_error where memory is short.
[[nodiscard]] std::unique_ptr<spmspv_subject> make_subject(const std::shared_ptr<device>& device,
                                                           const csr_view<float>& matrix,
                                                           const std::string& semiring,
                                                           const std::string& precision);

} // namespace krylith::bench
