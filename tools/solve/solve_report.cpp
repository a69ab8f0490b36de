#include <krylith/tools/solve/solve_report.hpp>

#include <cmath>

#include <fmt/format.h>

#include <krylith/config.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/solve/columns_report.hpp>
#include <krylith/tools/solve/failure_advice.hpp>
#include <krylith/tools/solve/operator_report.hpp>

namespace krylith::tool {

namespace {

template <class T>
json or_null(const std::optional<T>& value) {
    return value ? json(*value) : json();
}

json bytes(const solve_result& result) {
    json devices = json::array();
    for (const auto& items : result.bytes) {
        std::size_t total = 0;
        json device = json::object();
        for (const auto& [item, count] : items) {
            device[item] = count;
            total += count;
        }
        device["total"] = total;
        devices.push_back(device);
    }
    return devices;
}

json times(const std::vector<prediction>& operators) {
    json list = json::array();
    for (const prediction& p : operators)
        list.push_back({{"operator", p.name}, {"seconds_per_iteration", p.seconds}});
    return list;
}

json attempts_as_json(const solve_result& result) {
    json list = json::array();
    for (const solve_attempt& a : result.attempts)
        list.push_back({{"solver", a.solver},
                        {"preconditioner", a.preconditioner},
                        {"side", a.side.empty() ? json() : json(a.side)},
                        {"restart", a.restart == 0 ? json() : json(a.restart)},
                        {"because", a.because},
                        {"refused", a.refused.empty() ? json() : json(a.refused)},
                        {"reason", to_string(a.reason)},
                        {"iterations", a.iterations},
                        {"seconds", a.seconds},
                        {"relative_true_residual", a.relative_residual}});
    return list;
}

/// Null where M is no multigrid.
json levels(const std::vector<multigrid_level_facts>& all) {
    if (all.empty()) return {};
    json list = json::array();
    for (const multigrid_level_facts& level : all) {
        list.push_back({{"rows", level.rows},
                        {"nonzeros", level.nonzeros},
                        {"bound", level.bound},
                        {"format", level.format}});
        if (!level.next_rows.empty()) list.back()["next_rows"] = level.next_rows;
        if (!level.why_last.empty()) list.back()["why_last"] = level.why_last;
    }
    return {{"operator_complexity", operator_complexity(all)},
            {"grid_complexity", grid_complexity(all)},
            {"levels", list}};
}

json options(const solve_request& request, const solve_outcome& outcome) {
    const solver_options& o = request.options;
    const auto mode = static_cast<std::size_t>(o.mode);
    return {{"spd", request.spd},
            {"match_rows", request.match_rows},
            {"rhs", request.rhs},
            {"x0", request.x0.empty() ? json() : json(request.x0)},
            {"solver", request.solver},
            {"preconditioner", request.preconditioner},
            {"side", to_string(o.preconditioning)},
            {"rtol", outcome.result.rtol},
            {"atol", o.atol},
            {"rtol_normal", or_null(o.rtol_normal)},
            {"damping", o.damping},
            {"max_iterations", outcome.max_iterations < 0 ? json() : json(outcome.max_iterations)},
            {"restart", o.restart},
            {"polynomial_degree", o.polynomial_degree},
            {"shadow_vectors", o.shadow_vectors},
            {"max_seconds", std::isfinite(o.max_seconds) ? json(o.max_seconds) : json()},
            {"operator", request.multiply.kind},
            {"format", request.multiply.format},
            {"reorder", request.multiply.order},
            {"long_fraction", request.multiply.long_fraction},
            {"redundant_fraction", request.multiply.redundant_fraction},
            {"backend", request.devices.backend},
            {"devices", request.devices.devices},
            {"threads", request.devices.threads},
            {"transport", request.devices.transport == "auto" ? request.multiply.transport
                                                              : request.devices.transport},
            {"execution", execution_names.at(mode)}};
}

void report_operator(json& report, const solve_outcome& outcome) {
    report["operator"] = outcome.operator_name;
    report["operator_because"] = outcome.operator_because;
    report["operator_predictions"] = times(outcome.predictions);
    report["machine_rates"] = outcome.rates_from;
    report["operator_trials"] = times(outcome.trials);
    report["operator_fractions"] = as_json(outcome.fractions);
    report["transport"] = outcome.transport;
    report["transport_because"] = outcome.transport_because;
    report["format"] = outcome.format_name;
    report["narrow_fraction"] = outcome.narrow_fraction;
    report["kernel_products"] = json::object();
    for (const kernel_use& use : outcome.kernel_uses)
        report["kernel_products"][use.kernel] = use.products;
    report["row_matching"] = outcome.matched ? json{{"moved", outcome.matched->moved},
                                                    {"unmatched", outcome.matched->unmatched},
                                                    {"seconds", outcome.matched->seconds}}
                                             : json();
    report["reordering"] = as_json(outcome.reordered);
}

void report_devices(json& report, const solve_request& request, const solve_outcome& outcome) {
    const solve_result& r = outcome.result;
    report["backend"] = to_string(outcome.kind);
    report["processes"] = outcome.processes;
    report["devices"] = outcome.devices;
    report["devices_because"] = outcome.devices_because;
    report["precision"] = request.multiply.precision;
    report["execution"] = r.recorded ? "recorded" : "eager";
    if (!r.form.empty()) report["form"] = {{"kernels", r.form}, {"because", r.form_because}};
    report["execution_because"] = outcome.eager_because;
}

void report_residuals(json& report, const solve_outcome& outcome) {
    const solve_result& r = outcome.result;
    report["iterations"] = r.iterations;
    report["replacements"] = r.replacements;
    report["rhs_norm"] = r.rhs_norm;
    report["recurrence_residual"] = r.recurrence_residual;
    report["true_residual"] = r.true_residual;
    report["relative_true_residual"] = r.relative_residual();
    report["normal_residual"] = r.normal ? json(r.normal->norm) : json();
    report["relative_normal_residual"] = r.normal ? json(r.normal->relative) : json();
    report["condition_estimate"] = r.spectrum ? json(r.spectrum->condition()) : json();
    report["eigenvalue_estimates"] =
        r.spectrum ? json{{"smallest", r.spectrum->smallest}, {"largest", r.spectrum->largest}}
                   : json();
    report["solution_error"] = or_null(outcome.solution_error);
}

void report_times(json& report, const solve_outcome& outcome) {
    const solve_result& r = outcome.result;
    report["load_seconds"] = outcome.load_seconds;
    report["setup_seconds"] = outcome.setup_seconds;
    report["transfer_seconds"] = outcome.transfer_seconds;
    report["solve_seconds"] = r.solve_seconds;
    report["seconds_per_iteration"] =
        !outcome.right_hand_sides.empty() ? json() : json(r.seconds_per_iteration());
    report["bytes_per_iteration"] = or_null(outcome.bytes_an_iteration);
    report["gigabytes_per_second"] = or_null(outcome.bandwidth());
    report["bytes_per_device"] = bytes(r);
}

} // namespace

json json_fields(const solve_request& request, const solve_outcome& outcome) {
    const solve_result& r = outcome.result;
    json report;
    report["schema_version"] = report_schema;
    report["version"] = KRYLITH_VERSION;
    report["matrix"] = {{"name", request.matrix},
                        {"rows", outcome.rows},
                        {"columns", outcome.columns},
                        {"nnz", outcome.nnz}};
    report["solver"] = outcome.solver;
    report["solver_because"] = outcome.solver_because;
    report["attempts"] = attempts_as_json(r);
    report["preconditioner"] = outcome.preconditioner;
    report["preconditioner_bytes"] = outcome.preconditioner_bytes;
    report["multigrid"] = levels(outcome.levels);
    report_operator(report, outcome);
    report_devices(report, request, outcome);
    report["reason"] = to_string(r.reason);
    report["converged"] = r.converged();
    report["diagnosis"] = r.diagnosis;
    const bool several = !outcome.right_hand_sides.empty();
    report["right_hand_sides"] = columns_as_json(outcome);
    report["next_command"] = asks_for_advice(r) && !several ? json(next_command(request)) : json();
    report["warnings"] = outcome.warnings;
    report_residuals(report, outcome);
    report_times(report, outcome);
    report["options"] = options(request, outcome);
    report["history"] = r.history;
    return report;
}

std::string csv_history(const solve_result& result) {
    std::string text = "iteration,residual,relative_residual\n";
    const double norm = result.rhs_norm > 0 ? result.rhs_norm : 1;
    for (std::size_t k = 0; k < result.history.size(); ++k)
        text += fmt::format("{},{:.9e},{:.9e}\n", k, result.history[k], result.history[k] / norm);
    return text;
}

} // namespace krylith::tool
