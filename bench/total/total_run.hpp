// The whole of `krylith bench total`: each matrix on each number of devices, and by CuPy.
#pragma once

#include <string>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/total/total_measure.hpp>
#include <krylith/bench/total/total_request.hpp>

namespace krylith::bench {

class total_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit total_run(const total_request& request);

    /// Prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    void measure(const workload& w);
    void add(const workload& w, int devices, const std::string& library, const std::string& version,
             const total_numbers& numbers);

    total_request request_;
    device_choice choice_;
    report report_;
    bool cupy_ = false;
};

} // namespace krylith::bench
