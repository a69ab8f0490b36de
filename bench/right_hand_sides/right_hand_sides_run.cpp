#include <krylith/bench/right_hand_sides/right_hand_sides_run.hpp>

#include <new>

#include <fmt/format.h>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/device/error.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

namespace {

constexpr const char* right_hand_sides_line =
    "{:<40} {:>7} {:>3} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6} {:>6}{}\n";

json to_json(const column_times& times) {
    return {{"ms", bench::to_json(spread_of(times.solve), 1e3)},
            {"ms_call", bench::to_json(spread_of(times.call), 1e3)},
            {"iterations", times.iterations},
            {"us_per_iteration", 1e6 * times.iteration},
            {"relative_residual", times.relative_residual},
            {"form", times.form}};
}

} // namespace

right_hand_sides_run::right_hand_sides_run(const right_hand_sides_request& request)
    : request_((check_files(request.report_file, "", request.matrices), request)),
      choice_(choose_devices(request.devices, request.device_counts)),
      report_("right-hand-sides", request.report_file) {
    (void)find_solver(request_.solver);
    (void)parse_preconditioner(request_.preconditioner);
    for (const int columns : request_.columns)
        if (columns < 2)
            throw usage_error(fmt::format("--count is {}: allowed are 2 and more", columns));
    report_.describe_devices(choice_);
    report_.set_option("solver", request_.solver);
    report_.set_option("precond", request_.preconditioner);
    report_.set_option("repetitions", request_.repetitions);
    report_.set_option("rtol", request_.rtol);
}

bool right_hand_sides_run::run() {
    report_.say(fmt::format(
        "{}\n{} with {}, rtol {:g}; ms a system, without transfers, medians of {} by turns after "
        "one\nthat is thrown away; us an iteration of all systems at once, and of one alone\n\n",
        fmt::join(descriptions(choice_.group(choice_.counts.back())), ", "), request_.solver,
        request_.preconditioner, request_.rtol, request_.repetitions));
    report_.say(fmt::format(fmt::runtime(right_hand_sides_line), "matrix", "devices", "k",
                            "at once", "us/iter.", "iter.", "one by one", "us/iter.", "iter.",
                            "ratio", ""));
    for (const std::string& name : request_.matrix_list(choice_.kind)) {
        try {
            workload w = make_workload(name);
            measure(w);
        } catch (const input_error& e) {
            if (request_.matrices.empty())
                report_.skip(name, e.what());
            else
                report_.refuse(name, e.what());
        } catch (const std::bad_alloc&) {
            report_.skip(name, "the host's memory is too small for it");
        }
    }
    return report_.finish();
}

void right_hand_sides_run::measure(workload& w) {
    for (const int devices : choice_.counts)
        for (const int columns : request_.columns) {
            const right_hand_sides_task task{
                .columns = columns,
                .method = {.solver = request_.solver, .preconditioner = request_.preconditioner},
                .rtol = request_.rtol,
                .repetitions = request_.repetitions};
            try {
                add(w, devices, columns, measure_right_hand_sides(choice_.group(devices), w, task));
            } catch (const device_error& e) {
                report_.skip(
                    fmt::format("{} on {} devices, {} right-hand sides", w.name, devices, columns),
                    e.what());
            }
        }
}

void right_hand_sides_run::add(const workload& w, int devices, int columns,
                               const right_hand_sides_numbers& numbers) {
    const column_times& together = numbers.at_once;
    const column_times& apart = numbers.one_by_one;
    const double at_once = spread_of(together.solve).median;
    const double one_by_one = spread_of(apart.solve).median;
    const auto ms = [](double seconds) { return fmt::format("{:.4g}", 1e3 * seconds); };
    const auto us = [](double seconds) { return fmt::format("{:.1f}", 1e6 * seconds); };
    report_.say(fmt::format(fmt::runtime(right_hand_sides_line), tool::one_line(w.name), devices,
                            columns, ms(at_once), us(together.iteration), together.iterations,
                            ms(one_by_one), us(apart.iteration / columns), apart.iterations,
                            fmt::format("{:.2f}", one_by_one / at_once),
                            numbers.void_because.empty() ? "" : "  VOID"));
    for (const std::string& why : numbers.void_because)
        report_.say(fmt::format("    void: {}\n", why));
    report_.add({{"matrix", w.name},
                 {"n", w.n()},
                 {"nnz", w.nnz()},
                 {"devices", devices},
                 {"columns", columns},
                 {"columns_a_loop", numbers.columns_a_loop},
                 {"at_once", to_json(together)},
                 {"one_by_one", to_json(apart)},
                 {"ratio", one_by_one / at_once},
                 {"void_because", numbers.void_because}});
}

} // namespace krylith::bench
