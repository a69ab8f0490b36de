// The whole of `krylith bench spmv`: every case on one device by every format, then on
// several by every operator.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/bench/common/csv_file.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/spmv/generation_clock.hpp>
#include <krylith/bench/spmv/spmv_limit.hpp>
#include <krylith/bench/spmv/spmv_request.hpp>
#include <krylith/bench/spmv/spmv_row.hpp>
#include <krylith/bench/spmv/spmv_summary.hpp>
#include <krylith/spmv/machine_rates.hpp>

namespace krylith::bench {

class spmv_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit spmv_run(const spmv_request& request);

    /// Runs and prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    /// A matrix, and what is known of it.
    struct subject {
        spmv_case c;
        workload w;
        reference_product expected;
        one_device one;
    };

    /// Makes the workload. Returns nothing, with a reason in the report, where it takes too long or
    /// the host can't hold it.
    [[nodiscard]] std::optional<workload> make(const spmv_case& c);
    void run_one_device(subject& s);
    void run_devices(const subject& s, int devices, const std::string& format);
    /// Measures the limit. Returns nothing, with a reason in the report, where the blocks can't be
    /// measured.
    [[nodiscard]] std::optional<lone_blocks> measure_limit(const subject& s, int devices,
                                                           const std::string& format);
    /// A measured row. Failures are void rows.
    [[nodiscard]] json measure(const subject& s, const device_group& group,
                               const std::string& asked, const std::string& format,
                               const lone_blocks* blocks);
    template <class T>
    [[nodiscard]] json measured_row(const subject& s, const device_group& group,
                                    const std::string& asked, const std::string& format,
                                    const lone_blocks* blocks);
    /// Returns the formats to measure on several devices.
    [[nodiscard]] std::vector<std::string> formats_on_several(const subject& s) const;
    /// The bytes that a device group must have for a product.
    [[nodiscard]] static double room_for(const workload& w);
    void add(json row);

    spmv_request request_;
    device_choice choice_;
    execution_mode mode_;
    report report_;
    csv_file csv_;
    memory_rate rate_;
    std::vector<std::string> operators_;
    std::map<int, machine_rates> rates_; ///< for so many devices
    generation_clock clock_;
    spmv_summary summary_;
};

} // namespace krylith::bench
