// The whole of `krylith bench SOLVER`: every matrix on every number of devices, alternating with
// what is usual on the machine.
#pragma once

#include <memory>
#include <optional>

#include <krylith/bench/common/csv_file.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/solver/solver_request.hpp>

namespace krylith::bench {

class solver_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit solver_run(const solver_request& request);

    /// Runs and prints as it goes. Returns whether no row is void; throws input_error where a named
    /// matrix can't be read.
    [[nodiscard]] bool run();

private:
    void run_matrix(const workload& w);
    template <class T>
    void run_group(const workload& w, int count, std::optional<solver_numbers>& first);
    template <class T>
    void add_ours(const workload& w, const krylith_solver<T>& ours, int count,
                  solver_numbers& numbers, const std::optional<solver_numbers>& first);
    [[nodiscard]] std::unique_ptr<solver_contestant> make_baseline(const workload& w);
    [[nodiscard]] double iteration_bytes(const workload& w) const;
    void add(json row);

    solver_request request_;
    krylith_settings settings_;
    std::string against_;
    device_choice choice_;
    memory_rate rate_;
    report report_;
    csv_file csv_;
};

} // namespace krylith::bench
