#include <krylith/bench/total/total_run.hpp>

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>
#include <omp.h>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/total/total_peer.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

namespace {

/// A line of the table; the time over that of a bare copy of as many bytes is a figure of set-up.
std::string phase_line(const total_phase& phase, double copy_rate) {
    const spread s = spread_of(phase.seconds);
    std::string line = fmt::format("    {:<26} {:>10.3f} {:>10.3f} {:>10.3f}", phase.name,
                                   1e3 * s.median, 1e3 * s.p10, 1e3 * s.p90);
    if (phase.bytes > 0) {
        line += fmt::format(" {:>7.1f}", 1e-9 * phase.bytes / s.median);
        if (copy_rate > 0) line += fmt::format(" {:>6.2f}x", s.median * copy_rate / phase.bytes);
    }
    return line + "\n";
}

/// Bytes a second of the copy from pageable memory; 0 where there was none.
double pageable_copy_rate(const total_numbers& numbers) {
    for (const total_phase& p : numbers.phases) {
        if (p.name == "copy, pageable") return p.bytes / spread_of(p.seconds).median;
    }
    return 0;
}

} // namespace

total_run::total_run(const total_request& request)
    : request_((check_files(request.report_file, "", request.matrices), request)),
      choice_(choose_devices(request.devices, request.counts)),
      report_("total", request.report_file) {
    report_.describe_devices(choice_);
    report_.set_option("repetitions", request_.repetitions);
    report_.set_option("rtol", request_.rtol);
    report_.set_option("spd", request_.spd);
    report_.set_option("threads", omp_get_max_threads());
    if (request_.without_cupy || choice_.kind != backend::cuda) return;
    const std::string why = missing_cupy(request_.python);
    cupy_ = why.empty();
    if (!cupy_) report_.skip("cupy", why);
}

bool total_run::run() {
    report_.say(fmt::format(
        "{}\n{} host threads; median of {} after one that is thrown away; b = ones, rtol {:g}; "
        "steps are of CG\n"
        "GB/s: bytes between host memory and devices; the last column: against a bare copy of as\n"
        "many bytes from pageable memory\n\n    {:<26} {:>10} {:>10} {:>10} {:>7}\n",
        fmt::join(descriptions(choice_.group(choice_.counts.back())), ", "), omp_get_max_threads(),
        request_.repetitions, request_.rtol, "", "ms", "p10", "p90", "GB/s"));
    for (const auto& [name, spd] : request_.matrix_list(choice_.kind)) {
        try {
            workload w = make_workload(name, {.spd = spd});
            std::ranges::fill(w.b, 1.0);
            w.rhs_norm = std::sqrt(static_cast<double>(w.n()));
            measure(w);
        } catch (const input_error& e) {
            if (request_.matrices.empty()) { // the host can't hold it
                report_.skip(name, e.what());
            } else {
                report_.refuse(name, e.what());
            }
        } catch (const std::bad_alloc&) {
            report_.skip(name, "the host's memory is too small for it");
        }
    }
    return report_.finish();
}

void total_run::measure(const workload& w) {
    for (const int devices : choice_.counts) {
        const device_group group = choice_.group(devices);
        try {
            add(w, devices, "krylith", "",
                measure_total(group, w, request_.rtol, request_.repetitions));
        } catch (const device_error& e) {
            report_.skip(fmt::format("{} on {} devices", w.name, devices), e.what());
        }
    }
    if (!cupy_) return;
    try {
        const cupy_numbers cupy =
            measure_cupy(request_.python, request_.folder, w, request_.rtol, request_.repetitions);
        add(w, 1, "cupy", cupy.version, cupy.numbers);
    } catch (const measurement_failed& e) {
        report_.skip(w.name + " by CuPy", e.what());
    }
}

void total_run::add(const workload& w, int devices, const std::string& library,
                    const std::string& version, const total_numbers& numbers) {
    json phases = json::object();
    json bytes = json::object();
    const double rate = pageable_copy_rate(numbers);
    std::string lines;
    for (const total_phase& p : numbers.phases) {
        phases[p.name] = to_json(spread_of(p.seconds), 1e3);
        if (p.bytes > 0) bytes[p.name] = p.bytes;
        lines += phase_line(p, rate);
    }
    std::string why;
    for (const std::string& reason : numbers.void_because) why += "  VOID: " + reason;
    report_.say(fmt::format(
        "{}, {} {}{}: {} iterations, residual {:.1e}{}\n{}{}\n", tool::one_line(w.name), devices,
        devices == 1 ? "device" : "devices",
        library == "krylith" ? "" : ", " + library + " " + version, numbers.iterations,
        numbers.relative_residual, why,
        numbers.chosen.empty() ? "" : fmt::format("    solve() took {}\n", numbers.chosen), lines));
    report_.add({{"matrix", w.name},
                 {"n", w.n()},
                 {"nnz", w.nnz()},
                 {"devices", devices},
                 {"library", library},
                 {"version", version},
                 {"iterations", numbers.iterations},
                 {"relative_residual", numbers.relative_residual},
                 {"chosen", numbers.chosen},
                 {"ms", phases},
                 {"bytes", bytes},
                 {"void_because", numbers.void_because}});
}

} // namespace krylith::bench
