#include <krylith/bench/total/total_measure.hpp>

#include <memory>
#include <span>

#include <fmt/format.h>

#include <krylith/bench/common/device_arrays.hpp>
#include <krylith/bench/total/total_copies.hpp>
#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

using operator_owner = std::unique_ptr<matrix_operator<double>>;

class total_measurement {
public:
    total_measurement(const device_group& group, const workload& w, double rtol)
        : group_(group), w_(w), solution_(w.b.size()) {
        options_.rtol = rtol;
    }

    total_numbers run(int repetitions) {
        for (int i = -1; i < repetitions; ++i) {
            keep_ = i >= 0; // the first is thrown away
            by_default();
            once();
        }
        check();
        with_new_values(repetitions);
        copies();
        from_devices(repetitions);
        return std::move(numbers_);
    }

private:
    void note(const char* name, double seconds, double bytes = 0) {
        if (!keep_) return;
        auto& phases = numbers_.phases;
        auto found = phases.begin();
        while (found != phases.end() && found->name != name) ++found;
        if (found == phases.end()) found = phases.insert(found, {name, bytes});
        found->seconds.push_back(seconds);
    }

    /// From arrays to the answer in one call, which chooses the method.
    void by_default() {
        const tool::stopwatch watch;
        const solve_result solved = solve<double>(group_, w_.matrix, w_.b, solution_, options_);
        note("solve()", watch.seconds());
        by_cg_with_ =
            solved.attempts.back().solver == "cg" ? solved.attempts.back().preconditioner : "";
        numbers_.chosen = fmt::format("{} with {}, {} iterations", solved.attempts.back().solver,
                                      solved.attempts.back().preconditioner, solved.iterations);
        if (!solved.converged()) add_reason("solve() did not converge");
        if (keep_) check();
    }

    /// From arrays to the answer by CG, step by step, and then what a program does next.
    void once() {
        const double vector_bytes = 8.0 * static_cast<double>(w_.n());
        const double value_bytes = 8.0 * static_cast<double>(w_.nnz());
        const tool::stopwatch whole;
        tool::stopwatch watch;
        const operator_owner a = make_operator(group_, w_.matrix);
        group_.synchronize();
        note("make_operator", watch.lap(),
             value_bytes + 4.0 * static_cast<double>(w_.nnz()) + vector_bytes);
        auto b = a->make_range_vector();
        auto x = a->make_range_vector();
        group_.synchronize();
        note("make vectors", watch.lap());
        b.upload(w_.b);
        group_.synchronize();
        note("upload b", watch.lap(), vector_bytes);
        const solve_result first = cg(*a, b, x, options_);
        note("first solve", watch.lap());
        x.download(solution_);
        note("download x", watch.lap(), vector_bytes);
        note("total", whole.seconds());
        numbers_.iterations = first.iterations;
        if (!first.converged()) add_reason("CG did not converge");

        watch = {};
        const solve_result second = cg(*a, b, x, options_);
        note("second solve", watch.lap());
        if (second.iterations != first.iterations) {
            add_reason(fmt::format("the second solve took {} iterations, the first {}",
                                   second.iterations, first.iterations));
        }
        watch = {};
        a->update(w_.matrix.values);
        group_.synchronize();
        note("update(values)", watch.lap(), value_bytes);
        rows_ = std::make_unique<row_partition>(a->layout()->rows);
    }

    /// From new values on the same pattern to the answer: CG with amg, where solve() chose that.
    void with_new_values(int repetitions) {
        if (!by_cg_with_.starts_with("amg")) return;
        distributed_csr<double> matrix(group_, w_.matrix, *rows_, *rows_);
        const operator_owner a = make_operator(matrix);
        amg<double> m(*a, matrix);
        if (m.name() != by_cg_with_) return; // solve() made a stronger one
        auto b = a->make_range_vector();
        auto x = a->make_range_vector();
        b.upload(w_.b);
        for (int i = -1; i < repetitions; ++i) {
            keep_ = i >= 0;
            const tool::stopwatch watch;
            matrix.update(w_.matrix.values);
            a->update_on_devices(matrix.values());
            m.update(matrix);
            const solve_result solved = cg(*a, b, x, options_, m);
            x.download(solution_);
            note("update() and solve, amg", watch.seconds());
            if (!solved.converged()) add_reason("CG with an updated amg did not converge");
            check();
        }
    }

    /// The same bytes without a look at them.
    void copies() {
        for (const bool pinned : {false, true}) {
            if (pinned && group_.kind() == backend::host) continue; // memory is one there
            const bare_copy copy(group_, w_, pinned);
            (void)copy.run();
            for (std::size_t i = 0; i < numbers_.phase("total").seconds.size(); ++i) {
                note(pinned ? "copy, pinned" : "copy, pageable", copy.run(), copy.bytes());
            }
        }
    }

    void from_devices(int repetitions) {
        const device_arrays arrays(group_, w_, *rows_);
        for (int i = -1; i < repetitions; ++i) {
            keep_ = i >= 0;
            tool::stopwatch watch;
            const operator_owner a = make_operator<double>(group_, arrays.parts());
            group_.synchronize();
            note("make_operator, on devices", watch.lap());
            if (i + 1 != repetitions) continue;
            auto b = a->make_range_vector();
            auto x = a->make_range_vector();
            b.upload(w_.b);
            const solve_result solved = cg(*a, b, x, options_);
            if (!solved.converged()) add_reason("CG with arrays on devices did not converge");
        }
    }

    void check() {
        numbers_.relative_residual = true_residual(w_, solution_) / w_.rhs_norm;
        if (!(numbers_.relative_residual <= 1.01 * *options_.rtol)) {
            add_reason(fmt::format("||b - A x|| / ||b|| is {:.2e}", numbers_.relative_residual));
        }
    }

    void add_reason(const std::string& why) {
        for (const std::string& known : numbers_.void_because) {
            if (known == why) return;
        }
        numbers_.void_because.push_back(why);
    }

    device_group group_;
    const workload& w_;
    std::vector<double> solution_;
    solver_options options_;
    std::unique_ptr<row_partition> rows_;
    total_numbers numbers_;
    bool keep_ = false;
    std::string by_cg_with_; ///< the preconditioner that solve() chose for cg
};

} // namespace

const total_phase& total_numbers::phase(const std::string& name) const {
    for (const total_phase& p : phases) {
        if (p.name == name) return p;
    }
    throw usage_error("total_numbers has no phase '" + name + "'");
}

total_numbers measure_total(const device_group& group, const workload& w, double rtol,
                            int repetitions) {
    return total_measurement(group, w, rtol).run(repetitions);
}

} // namespace krylith::bench
