// The whole of `krylith bench multigrid`: each matrix on each number of devices.
#pragma once

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/multigrid/multigrid_measure.hpp>
#include <krylith/bench/multigrid/multigrid_request.hpp>

namespace krylith::bench {

class multigrid_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit multigrid_run(const multigrid_request& request);

    /// Prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    void measure(const workload& w);
    void add(const workload& w, const std::string& library, int devices,
             const multigrid_numbers& numbers);

    multigrid_request request_;
    device_choice choice_;
    report report_;
    multigrid_task task_;
    bool pyamg_ = false; ///< whether it is measured
};

} // namespace krylith::bench
