// krylith's CG on a device group.
#pragma once

#include <memory>

#include <krylith/bench/cg/cg_contestant.hpp>
#include <krylith/bench/common/workload.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

struct cg_settings {
    std::string form = "cg"; ///< cg, cg:auto or cg:persistent
    operator_options format{};
    execution_mode mode = execution_mode::automatic;
    int unroll = 8;
};

class krylith_cg final : public cg_contestant {
public:
    /// The workload must outlive it.
    krylith_cg(const device_group& group, const workload& w, const cg_settings& settings);

    [[nodiscard]] std::string name() const override { return "krylith"; }
    [[nodiscard]] double iterate(std::int64_t iterations) override;
    [[nodiscard]] cg_outcome solve(double rtol, std::int64_t max_iterations) override;
    [[nodiscard]] double setup_seconds() const override { return setup_seconds_; }

    [[nodiscard]] const matrix_operator<double>& a() const { return *a_; }
    /// Whether the devices repeated the iteration by themselves in the last run.
    [[nodiscard]] bool recorded() const { return recorded_; }

private:
    [[nodiscard]] solve_result run(const solver_options& options);

    cg_settings settings_;
    double setup_seconds_ = 0;
    std::unique_ptr<matrix_operator<double>> a_;
    vector<double> b_;
    vector<double> x_;
    bool recorded_ = false;
};

} // namespace krylith::bench
