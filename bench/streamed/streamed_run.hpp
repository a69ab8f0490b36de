// The whole of `krylith bench streamed`: every matrix in every format, by every version on every
// number of devices.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/csv_file.hpp>
#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/streamed/streamed_request.hpp>
#include <krylith/bench/streamed/streamed_row.hpp>

namespace krylith::bench {

class streamed_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit streamed_run(const streamed_request& request);

    /// Prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    void run_format(const workload& w, const reference_product& expected,
                    const std::string& format);
    /// Failures are void rows.
    [[nodiscard]] json measure(streamed_arrays& arrays, const streamed_case& c,
                               const reference_product& expected);

    streamed_request request_;
    device_choice choice_;
    std::vector<std::string> formats_;
    report report_;
    csv_file csv_;
};

} // namespace krylith::bench
