#include <krylith/bench/multigrid/multigrid_measure.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <krylith/bench/common/device_arrays.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

class multigrid_measurement {
public:
    multigrid_measurement(const device_group& group, const workload& w, const multigrid_task& task)
        : group_(group),
          w_(w),
          task_(task),
          arrays_(group, w,
                  partition_rows(csr_view<double>(w.matrix), group.size(),
                                 std::max(1, task.options.block_size))),
          solution_(w.b.size()) {
        options_.rtol = task.rtol;
    }

    multigrid_numbers run() {
        for (int i = -1; i < task_.repetitions; ++i) {
            keep_ = i >= 0; // the first is thrown away
            once();
        }
        numbers_.relative_residual = true_residual(w_, solution_) / w_.rhs_norm;
        if (!(numbers_.relative_residual <= 1.01 * task_.rtol))
            add_reason(fmt::format("||b - A x|| / ||b|| is {:.2e}", numbers_.relative_residual));
        return std::move(numbers_);
    }

private:
    void note(const char* name, double seconds) {
        if (!keep_) return;
        auto& phases = numbers_.phases;
        auto found = std::ranges::find(phases, name, &multigrid_phase::name);
        if (found == phases.end()) found = phases.insert(found, {name, {}});
        found->seconds.push_back(seconds);
    }

    void once() {
        tool::stopwatch whole;
        tool::stopwatch watch;
        const auto a = make_operator<double>(group_, arrays_.parts());
        group_.synchronize();
        note("make_operator", watch.lap());
        const std::vector<std::size_t> live = restart_peaks();
        watch = {};
        amg<double> m(*a, arrays_.parts(), task_.options);
        group_.synchronize();
        note("amg", watch.lap());
        const double before = whole.lap();
        for (int rank = 0; rank < group_.size(); ++rank) {
            const std::size_t peak = group_[rank].ledger().peak();
            numbers_.peak_bytes =
                std::max(numbers_.peak_bytes,
                         static_cast<std::int64_t>(peak - live[static_cast<std::size_t>(rank)]));
        }

        auto b = a->make_range_vector();
        auto x = a->make_range_vector();
        b.upload(w_.b);
        group_.synchronize();
        (void)whole.lap(); // vectors are the caller's
        const solve_result first = cg(*a, b, x, options_, m);
        const double solving = whole.lap();
        note("first solve", solving);
        note("total", before + solving);
        x.download(solution_);
        check(first);
        describe(m, first);

        watch = {};
        check(cg(*a, b, x, options_, m));
        note("second solve", watch.lap());

        for (const char* const phase : {"first amg update", "amg update"}) {
            watch = {};
            m.update(arrays_.parts());
            group_.synchronize();
            note(phase, watch.lap());
        }
        numbers_.updated_bytes = m.bytes();
        watch = {};
        check(cg(*a, b, x, options_, m));
        note("solve after update", watch.lap());
        if (!task_.with_cg) return;
        (void)cg(*a, b, x, options_);
        watch = {};
        const solve_result alone = cg(*a, b, x, options_);
        note("cg alone", watch.lap());
        numbers_.iterations_alone = alone.iterations;
    }

    /// The bytes that are live on each device, from which peaks are counted now.
    std::vector<std::size_t> restart_peaks() {
        std::vector<std::size_t> live;
        for (int rank = 0; rank < group_.size(); ++rank) {
            memory_ledger& ledger = group_[rank].ledger();
            ledger.restart_peak();
            live.push_back(ledger.peak());
        }
        return live;
    }

    void describe(const amg<double>& m, const solve_result& first) {
        numbers_.iterations = first.iterations;
        numbers_.preconditioner = m.name();
        numbers_.bytes = m.bytes();
        numbers_.operator_complexity = m.operator_complexity();
        numbers_.grid_complexity = m.grid_complexity();
        numbers_.levels = m.levels();
    }

    void check(const solve_result& result) {
        if (!result.converged()) add_reason("CG did not converge: " + result.diagnosis);
        if (keep_ && result.iterations != numbers_.iterations)
            add_reason(fmt::format("solves took {} and {} iterations", numbers_.iterations,
                                   result.iterations));
    }

    void add_reason(const std::string& why) {
        if (std::ranges::find(numbers_.void_because, why) == numbers_.void_because.end())
            numbers_.void_because.push_back(why);
    }

    device_group group_;
    const workload& w_;
    const multigrid_task& task_;
    device_arrays arrays_;
    std::vector<double> solution_;
    solver_options options_;
    multigrid_numbers numbers_;
    bool keep_ = false;
};

} // namespace

multigrid_numbers measure_multigrid(const device_group& group, const workload& w,
                                    const multigrid_task& task) {
    return multigrid_measurement(group, w, task).run();
}

} // namespace krylith::bench
