// The whole of `krylith bench right-hand-sides`: each matrix on each number of devices with each
// number of right-hand sides.
#pragma once

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/right_hand_sides/right_hand_sides_measure.hpp>
#include <krylith/bench/right_hand_sides/right_hand_sides_request.hpp>

namespace krylith::bench {

class right_hand_sides_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit right_hand_sides_run(const right_hand_sides_request& request);

    /// Prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    void measure(workload& w);
    void add(const workload& w, int devices, int columns, const right_hand_sides_numbers& numbers);

    right_hand_sides_request request_;
    device_choice choice_;
    report report_;
};

} // namespace krylith::bench
