// The whole of `krylith bench factors`: each matrix on each number of devices.
#pragma once

#include <string>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/factors/factors_measure.hpp>
#include <krylith/bench/factors/factors_request.hpp>

namespace krylith::bench {

class factors_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit factors_run(const factors_request& request);

    /// Prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    void measure(const workload& w);
    void add_factors(const workload& w, int devices, const std::string& order,
                     const factors_numbers& numbers);
    void add_solve(const workload& w, int devices, const solve_numbers& numbers);
    void add_peer(const workload& w);
    /// A row with what all rows have.
    [[nodiscard]] static json row_of(const workload& w, int devices, const char* what);

    factors_request request_;
    device_choice choice_;
    report report_;
};

} // namespace krylith::bench
