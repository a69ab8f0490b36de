// The whole of `krylith bench spmspv`: every matrix with every vector.
#pragma once

#include <krylith/bench/common/line_report.hpp>
#include <krylith/bench/spmspv/spmspv_request.hpp>

namespace krylith::bench {

class spmspv_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit spmspv_run(const spmspv_request& request);

    /// Runs and prints as it goes. Returns whether no row is void and no named matrix was refused.
    [[nodiscard]] bool run();

private:
    void run_matrix(const listed_matrix& listed);

    spmspv_request request_;
    device_group group_;
    line_report report_;
};

} // namespace krylith::bench
