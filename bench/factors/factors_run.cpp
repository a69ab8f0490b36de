#include <krylith/bench/factors/factors_run.hpp>

#include <new>
#include <utility>

#include <fmt/format.h>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/factors/factors_peers.hpp>
#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/statistics.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

namespace {

/// The phases as JSON, and as lines of the table.
std::pair<json, std::string> described_phases(const std::vector<factors_phase>& phases) {
    std::pair<json, std::string> result{json::object(), ""};
    for (const factors_phase& p : phases) {
        const spread s = spread_of(p.seconds);
        result.first[p.name] = to_json(s, 1e3);
        result.second += fmt::format("    {:<26} {:>10.3f} {:>10.3f} {:>10.3f}\n", p.name,
                                     1e3 * s.median, 1e3 * s.p10, 1e3 * s.p90);
    }
    return result;
}

std::string void_text(const std::vector<std::string>& reasons) {
    std::string text;
    for (const std::string& reason : reasons) text += "  VOID: " + reason;
    return text;
}

bool suits_cg(const workload& w) {
    return measure_symmetry(csr_view<double>(w.matrix)).by_values();
}

} // namespace

factors_run::factors_run(const factors_request& request)
    : request_((check_files(request.report_file, "", request.matrices), request)),
      choice_(choose_devices(request.devices, request.counts)),
      report_("factors", request.report_file) {
    report_.describe_devices(choice_);
    report_.set_option("repetitions", request_.repetitions);
    report_.set_option("rtol", request_.rtol);
}

bool factors_run::run() {
    report_.say(fmt::format(
        "{}\nmedian of {} after one that is thrown away; b random; the clock runs from arrays on "
        "the devices\n\n    {:<26} {:>10} {:>10} {:>10}\n",
        fmt::join(descriptions(choice_.group(choice_.counts.back())), ", "), request_.repetitions,
        "", "ms", "p10", "p90"));
    for (const std::string& name : request_.matrix_list(choice_.kind)) {
        try {
            measure(make_workload(name));
        } catch (const input_error& e) {
            report_.refuse(name, e.what());
        } catch (const std::bad_alloc&) {
            report_.skip(name, "the host's memory is too small for it");
        }
    }
    return report_.finish();
}

void factors_run::measure(const workload& w) {
    const bool solves = !request_.without_solves && suits_cg(w);
    if (!request_.without_solves && !solves)
        report_.skip("CG for " + w.name, "the matrix is not symmetric");
    for (const int devices : choice_.counts) {
        try {
            const device_group group = choice_.group(devices);
            for (const elimination_order order :
                 {elimination_order::natural, elimination_order::colours,
                  elimination_order::automatic})
                add_factors(w, devices, to_string(order),
                            measure_factors(group, w, order, request_.repetitions));
            if (!solves) continue;
            for (const char* const m : {"none", "jacobi", "ic0:order=natural", "ic0:order=colours"})
                add_solve(w, devices,
                          measure_solve(group, w, m, request_.rtol, request_.repetitions));
        } catch (const device_error& e) {
            report_.skip(fmt::format("{} on {} devices", w.name, devices), e.what());
        }
    }
    if (choice_.kind == backend::cuda && !request_.without_peers) add_peer(w);
}

json factors_run::row_of(const workload& w, int devices, const char* what) {
    return {{"matrix", w.name},
            {"n", w.n()},
            {"nnz", w.nnz()},
            {"devices", devices},
            {"measured", what}};
}

void factors_run::add_factors(const workload& w, int devices, const std::string& order,
                              const factors_numbers& numbers) {
    const auto [phases, lines] = described_phases(numbers.phases.all());
    report_.say(fmt::format("{}, {} {}: ilu0:order={}, {:.2f} GB{}\n    {}\n{}\n",
                            tool::one_line(w.name), devices, devices == 1 ? "device" : "devices",
                            order, 1e-9 * static_cast<double>(numbers.bytes),
                            void_text(numbers.void_because), numbers.reason, lines));
    json row = row_of(w, devices, "factors");
    row["library"] = "krylith";
    row["preconditioner"] = numbers.preconditioner;
    row["asked_for"] = order;
    row["reason"] = numbers.reason;
    row["colours"] = numbers.colours;
    row["nonzeros"] = numbers.nonzeros;
    row["bytes"] = numbers.bytes;
    row["factors_error"] = numbers.factors_error;
    row["ms"] = phases;
    row["void_because"] = numbers.void_because;
    report_.add(std::move(row));
}

void factors_run::add_solve(const workload& w, int devices, const solve_numbers& numbers) {
    const auto [phases, lines] = described_phases(numbers.phases.all());
    report_.say(fmt::format("{}, {} {}: CG, {}: {} iterations, residual {:.1e}{}\n{}\n",
                            tool::one_line(w.name), devices, devices == 1 ? "device" : "devices",
                            numbers.preconditioner, numbers.iterations, numbers.relative_residual,
                            void_text(numbers.void_because), lines));
    json row = row_of(w, devices, "solve");
    row["library"] = "krylith";
    row["preconditioner"] = numbers.preconditioner;
    row["iterations"] = numbers.iterations;
    row["relative_residual"] = numbers.relative_residual;
    row["ms"] = phases;
    row["void_because"] = numbers.void_because;
    report_.add(std::move(row));
}

void factors_run::add_peer([[maybe_unused]] const workload& w) {
#if KRYLITH_HAVE_CUDA
    try {
        const device_group group = choice_.group(1);
        const factors_peer_seconds seconds =
            cusparse_ilu0(group.handle(0), w.matrix, request_.repetitions);
        const auto [phases, lines] = described_phases(
            {{"analysis", seconds.analysis}, {"factorisation", seconds.factorisation}});
        report_.say(
            fmt::format("{}, cuSPARSE csrilu02, by levels\n{}\n", tool::one_line(w.name), lines));
        json row = row_of(w, 1, "factors");
        row["library"] = "cusparse";
        row["preconditioner"] = "csrilu02";
        row["ms"] = phases;
        row["void_because"] = json::array();
        report_.add(std::move(row));
    } catch (const usage_error& e) {
        report_.skip(w.name + " by cuSPARSE", e.what());
    } catch (const device_error& e) {
        report_.skip(w.name + " by cuSPARSE", e.what());
    }
#endif
}

} // namespace krylith::bench
