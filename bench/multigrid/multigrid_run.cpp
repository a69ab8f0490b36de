#include <krylith/bench/multigrid/multigrid_run.hpp>

#include <new>

#include <fmt/format.h>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/multigrid/multigrid_peer.hpp>
#include <krylith/device/error.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/tools/cli/near_null.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

multigrid_run::multigrid_run(const multigrid_request& request)
    : request_((check_files(request.report_file, "", request.matrices), request)),
      choice_(choose_devices(request.devices, request.counts)),
      report_("multigrid", request.report_file),
      task_{amg_options_of(request.preconditioner), request.rtol, request.repetitions,
            request.with_cg} {
    report_.describe_devices(choice_);
    report_.set_option("repetitions", request_.repetitions);
    report_.set_option("rtol", request_.rtol);
    report_.set_option("precond", request_.preconditioner);
    if (!request_.with_pyamg) return;
    const std::string why = missing_pyamg(request_.python);
    pyamg_ = why.empty();
    if (!pyamg_) report_.skip("PyAMG", why);
}

bool multigrid_run::run() {
    report_.say(fmt::format(
        "{}\nmedian of {} after one that is thrown away; CG with {}, b random, rtol {:g}; the\n"
        "clock runs from arrays on the devices\n\n    {:<26} {:>10} {:>10} {:>10}\n",
        fmt::join(descriptions(choice_.group(choice_.counts.back())), ", "), request_.repetitions,
        request_.preconditioner, request_.rtol, "", "ms", "p10", "p90"));
    for (const std::string& name : request_.matrix_list(choice_.kind)) {
        try {
            measure(make_workload(name));
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

void multigrid_run::measure(const workload& w) {
    const tool::near_null modes =
        tool::find_near_null(w.name, w.spd, w.n(), "", request_.preconditioner);
    multigrid_task task = task_;
    if (modes.block_size > 1) task.options.block_size = modes.block_size;
    task.options.near_null = modes.vectors;
    for (const int devices : choice_.counts) {
        try {
            add(w, "krylith", devices, measure_multigrid(choice_.group(devices), w, task));
        } catch (const device_error& e) {
            report_.skip(fmt::format("{} on {} devices", w.name, devices), e.what());
        }
    }
    if (!pyamg_) return;
    try {
        add(w, "PyAMG", 1, measure_pyamg(request_.python, request_.folder, w, task));
    } catch (const measurement_failed& e) {
        report_.skip(w.name + " by PyAMG", e.what());
    }
}

void multigrid_run::add(const workload& w, const std::string& library, int devices,
                        const multigrid_numbers& numbers) {
    json phases = json::object();
    std::string lines;
    for (const multigrid_phase& p : numbers.phases) {
        const spread s = spread_of(p.seconds);
        phases[p.name] = to_json(s, 1e3);
        lines += fmt::format("    {:<26} {:>10.3f} {:>10.3f} {:>10.3f}\n", p.name, 1e3 * s.median,
                             1e3 * s.p10, 1e3 * s.p90);
    }
    json levels = json::array();
    for (const multigrid_level_facts& level : numbers.levels) {
        levels.push_back({{"rows", level.rows},
                          {"nonzeros", level.nonzeros},
                          {"bound", level.bound},
                          {"format", level.format}});
        lines += fmt::format("    level {:>11} rows {:>12} nonzeros  bound {:.3f}  {}\n",
                             level.rows, level.nonzeros, level.bound, level.format);
    }
    std::string memory;
    if (numbers.bytes > 0)
        memory = fmt::format(", {:.2f} GB ({:.2f} to make it, {:.2f} once updated)",
                             1e-9 * static_cast<double>(numbers.bytes),
                             1e-9 * static_cast<double>(numbers.peak_bytes),
                             1e-9 * static_cast<double>(numbers.updated_bytes));
    std::string why;
    for (const std::string& reason : numbers.void_because) why += "  VOID: " + reason;
    const std::string on = library == "krylith"
                               ? fmt::format("{} {}", devices, devices == 1 ? "device" : "devices")
                               : numbers.preconditioner;
    report_.say(fmt::format(
        "{}, {}: {} iterations{}, residual {:.1e}, complexity {:.3f}{}{}\n{}\n",
        tool::one_line(w.name), on, numbers.iterations,
        numbers.iterations_alone > 0 ? fmt::format(" (CG alone {})", numbers.iterations_alone) : "",
        numbers.relative_residual, numbers.operator_complexity, memory, why, lines));
    report_.add({{"matrix", w.name},
                 {"n", w.n()},
                 {"nnz", w.nnz()},
                 {"library", library},
                 {"devices", devices},
                 {"preconditioner", numbers.preconditioner},
                 {"iterations", numbers.iterations},
                 {"iterations_alone", numbers.iterations_alone},
                 {"relative_residual", numbers.relative_residual},
                 {"operator_complexity", numbers.operator_complexity},
                 {"grid_complexity", numbers.grid_complexity},
                 {"bytes", numbers.bytes},
                 {"peak_bytes", numbers.peak_bytes},
                 {"updated_bytes", numbers.updated_bytes},
                 {"levels", levels},
                 {"ms", phases},
                 {"void_because", numbers.void_because}});
}

} // namespace krylith::bench
