#include <krylith/bench/solver/solver_run.hpp>

#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <krylith/bench/solver/cg_eigen.hpp>
#include <krylith/bench/solver/solver_row.hpp>
#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/model/models.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/bench/solver/cg_cublas.hpp>
#endif

namespace krylith::bench {

namespace {

/// An effort whose runs end before the solver does: on a small matrix it can't go on for ever.
slope_effort within(slope_effort effort, std::int64_t most) {
    effort.iterations = std::min(effort.iterations, most - effort.warm_up);
    if (effort.iterations < 1) {
        throw usage_error("the solve ends within " + std::to_string(most) +
                          " iterations: too few to time; use a larger matrix, or a smaller "
                          "--warm-up");
    }
    return effort;
}

} // namespace

solver_run::solver_run(const solver_request& request)
    : request_((request.check(), request)),
      settings_(request.settings()),
      against_(request.contestants()),
      choice_(choose_devices(request.devices, request.counts)),
      report_(request.solver, request.report_file),
      csv_(request.csv_file, solver_csv_columns()) {
    const bool single = request_.multiply.single_precision();
    request_.plan.rtol =
        request_.rtol.value_or(single ? default_rtol<float>() : default_rtol<double>());
    request_.plan.epsilon = single ? std::numeric_limits<float>::epsilon() : 0;
    if (!request_.without_limits) {
        rate_ = measure_memory_rate(choice_, request_.limit);
    }
    report_.describe_machine(choice_, rate_);
    report_.describe_effort(request_.plan.effort);
    report_.set_option("spd", request_.spd);
    report_.set_option("precision", request_.multiply.precision);
    report_.set_option("preconditioner", request_.preconditioner);
    report_.set_option("operator", request_.multiply.kind);
    report_.set_option("format", request_.multiply.format);
    report_.set_option("order", request_.multiply.order);
    report_.set_option("against", against_);
    report_.set_option("execution", request_.execution);
    report_.set_option("unroll", request_.unroll);
    report_.set_option("rtol", request_.plan.rtol);
}

bool solver_run::run() {
    report_.say(fmt::format("{}, {}{}\n{}\n\n{}", request_.solver, request_.multiply.precision,
                            request_.spd ? ", matrices made spd" : "", in_words(choice_, rate_),
                            solver_table_head()));
    for (const std::string& name : request_.matrix_names(choice_.kind)) {
        std::optional<workload> w;
        try {
            w = make_workload(name, {request_.spd, request_.multiply.single_precision()});
        } catch (const input_error& e) {
            if (request_.matrices.empty()) { // the host can't hold it
                report_.skip(name, e.what());
            } else {
                report_.refuse(name, e.what());
            }
            continue;
        }
        run_matrix(*w);
    }
    return report_.finish();
}

void solver_run::run_matrix(const workload& w) {
    std::optional<solver_numbers> first;
    for (const int count : choice_.counts) {
        // The estimate holds formats and their padding, vectors, and what the baseline has of both.
        const double bytes =
            1.25 * (12.0 * static_cast<double>(w.nnz()) + 80.0 * static_cast<double>(w.n()));
        if (!has_room(choice_.group(count), first ? bytes : 2 * bytes)) {
            report_.skip(fmt::format("{} on {}", w.name, count), "it doesn't fit");
            continue;
        }
        try {
            if (request_.multiply.single_precision()) {
                run_group<float>(w, count, first);
            } else {
                run_group<double>(w, count, first);
            }
        } catch (const usage_error&) {
            throw;
        } catch (const error& e) {
            add(failed_row(w.name, count, e.what()));
        }
        if (against_ == "baseline") {
            return;
        }
    }
}

std::unique_ptr<solver_contestant> solver_run::make_baseline(const workload& w) {
    try {
#if KRYLITH_HAVE_CUDA
        if (choice_.kind == backend::cuda) {
            return make_cublas_cg(w, 0);
        }
#endif
        return make_eigen_cg(w, choice_.options.threads);
    } catch (const usage_error& e) { // too many nonzeros for its indices
        report_.skip("the baseline on " + w.name, e.what());
        return nullptr;
    }
}

/// The baseline alternates with the first group.
template <class T>
void solver_run::run_group(const workload& w, int count, std::optional<solver_numbers>& first) {
    std::unique_ptr<krylith_solver<T>> ours;
    std::unique_ptr<solver_contestant> baseline;
    std::vector<solver_contestant*> contestants;
    solver_plan plan = request_.plan;
    if (against_ != "baseline") {
        ours = std::make_unique<krylith_solver<T>>(choice_.group(count), w, settings_);
        contestants.push_back(ours.get());
        const std::int64_t steps = plan.effort.warm_up + plan.effort.iterations;
        plan.effort = within(plan.effort, ours->most_iterations(steps));
    }
    if (!first && against_ != "krylith") {
        baseline = make_baseline(w);
        if (baseline) {
            contestants.push_back(baseline.get());
        }
    }
    if (contestants.empty()) {
        return;
    }
    std::vector<solver_numbers> numbers = measure_solvers(w, contestants, plan);
    if (ours) {
        add_ours(w, *ours, count, numbers.front(), first);
    }
    if (baseline) {
        json row = solver_row(w, numbers.back(), choice_.kind, 1, iteration_bytes(w), rate_);
        if (ours) {
            row["krylith_faster_by"] =
                numbers.back().iteration.median / numbers.front().iteration.median;
        }
        add(std::move(row));
    }
    if (!first) {
        first = std::move(numbers.front());
    }
}

template <class T>
void solver_run::add_ours(const workload& w, const krylith_solver<T>& ours, int count,
                          solver_numbers& numbers, const std::optional<solver_numbers>& first) {
    if (first && request_.plan.solves > 0 && request_.has_baseline()) {
        compare_device_counts(*first, numbers);
    }
    json row = solver_row(w, numbers, choice_.kind, count, iteration_bytes(w), rate_);
    add_operator(row, ours);
    row["rtol"] = request_.plan.rtol;
    row["speedup"] = first ? first->iteration.median / numbers.iteration.median : 1.0;
    row["speedup_over_devices"] = choice_.counts.front();
    if constexpr (std::is_same_v<T, double>) {
        if (request_.passes && count == 1) {
            add_passes(row, measure_passes(ours.a(), settings_.options.mode, request_.plan.effort));
        }
    }
    add(std::move(row));
}

double solver_run::iteration_bytes(const workload& w) const {
    const std::int64_t value_bytes = request_.multiply.single_precision() ? 4 : 8;
    const slope_effort& effort = request_.plan.effort;
    return tool::traffic{w.n(), w.nnz(), value_bytes}
        .iteration({request_.solver, request_.preconditioner, settings_.options.restart,
                    effort.warm_up + effort.iterations})
        .value_or(0);
}

void solver_run::add(json row) {
    report_.say(solver_table_lines(row));
    csv_.add(row);
    report_.add(std::move(row));
}

} // namespace krylith::bench
