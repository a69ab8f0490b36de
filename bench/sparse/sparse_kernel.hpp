// What `krylith bench sparse` measures: a table of kernels, each with the function that times it on
// one matrix beside what other libraries take.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// A matrix to measure, which may be rectangular, and the device that does it.
template <class T>
struct sparse_case {
    std::shared_ptr<device> on;
    const csr_matrix<T>& matrix;
    int repeats = 1;                     ///< timed runs, after one that is thrown away
    bool peers = true;                   ///< whether other libraries are measured beside
    const device_group* group = nullptr; ///< `on` alone, for what needs an operator
};

/// One measured thing. Times are seconds of one run; 0 says that it was not measured.
struct sparse_line {
    std::string kernel;      ///< name of the table's row
    std::string variant;     ///< what of it: "numeric", "lower, level sets"; may be empty
    std::string peer;        ///< the library beside; empty: none
    double seconds = 0;      ///< median
    double least = 0;        ///< the fastest run
    double peer_seconds = 0; ///< median of the peer
    double set_up = 0;       ///< median of what must be done before, once for a pattern
    double peer_set_up = 0;  ///< the same of the peer
    std::int64_t bytes = 0;  ///< what the work can't avoid to read and write
    std::int64_t flops = 0;  ///< 0 where nothing is computed
    std::int64_t memory = 0; ///< bytes kept or needed beside argument and result
    double deviation = 0;    ///< from the oracle, relative; 0: the same bits
    std::string note;        ///< a few words for people
};

/// A row of the table. `measure` and `measure_single` check every result against an oracle and
/// throw measurement_failed where it is wrong. They throw usage_error or input_error for a matrix
/// that the kernel does not take, which is skipped, and device_error where the memory is too small.
struct sparse_kernel {
    std::string_view name;
    std::string_view summary;
    std::vector<sparse_line> (*measure)(const sparse_case<double>&);
    std::vector<sparse_line> (*measure_single)(const sparse_case<float>&);
};

[[nodiscard]] std::span<const sparse_kernel> sparse_kernels();

/// Returns the rows of these names, all where there are none. Throws usage_error for another name.
[[nodiscard]] std::vector<sparse_kernel>
sparse_kernels_named(const std::vector<std::string>& names);

} // namespace krylith::bench
