#include <krylith/bench/solver/solver_row.hpp>

#include <fmt/format.h>

#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

namespace {

std::string median(const json& row, const char* key, const char* form, double unit = 1) {
    return row.contains(key) ? cell(row[key], "median", form, unit) : std::string("-");
}

} // namespace

json solver_row(const workload& w, const solver_numbers& numbers, backend kind, int devices,
                double bytes, const memory_rate& rate) {
    json row = {{"matrix", w.name},
                {"n", w.n()},
                {"nnz", w.nnz()},
                {"solver", numbers.solver},
                {"backend", to_string(kind)},
                {"devices", devices},
                {"us_per_iteration", to_json(numbers.iteration, 1e6)}};
    if (bytes > 0) {
        const double achieved = bytes / numbers.iteration.median;
        row["model_bytes"] = bytes;
        row["gb_per_s"] = achieved * 1e-9;
        if (rate.known()) {
            row["ratio_to_limit"] = achieved / rate.limit_of(devices);
            row["ratio_to_copy"] = achieved / rate.copy_of(devices);
        }
    }
    row["generation_seconds"] = w.seconds;
    row["setup_seconds"] = numbers.setup_seconds;
    if (numbers.solve.samples > 0) {
        row["solve_seconds"] = to_json(numbers.solve, 1);
        row["converged"] = numbers.first.converged;
        row["reason"] = numbers.first.reason;
        row["iterations"] = numbers.first.iterations;
        row["relative_true_residual"] = numbers.relative_residual;
        row["same_bits"] = numbers.repeats;
    }
    row["void_because"] = numbers.void_because;
    return row;
}

template <class T>
void add_operator(json& row, const krylith_solver<T>& ours) {
    const auto& a = ours.a();
    const device_group& group = a.comm().devices();
    json bytes = json::array();
    json received = json::array();
    for (int rank = 0; rank < group.size(); ++rank) {
        bytes.push_back(a.matrix_bytes(rank));
        received.push_back(a.received(rank));
    }
    row["operator"] = to_string(a.kind());
    row["format"] = a.format_name();
    row["narrow_fraction"] = a.narrow_fraction();
    row["recorded"] = ours.recorded();
    row["matrix_bytes"] = bytes;
    row["received_entries"] = received;
}

template void add_operator(json&, const krylith_solver<double>&);
template void add_operator(json&, const krylith_solver<float>&);

void add_passes(json& row, const cg_passes& passes) {
    row["passes_us"] = {{"all", passes.all * 1e6},
                        {"product", passes.product * 1e6},
                        {"residual", passes.residual * 1e6},
                        {"direction", passes.direction * 1e6}};
}

json failed_row(const std::string& matrix, int devices, const std::string& why) {
    return {{"matrix", matrix}, {"devices", devices}, {"void_because", json::array({why})}};
}

std::vector<std::string> solver_csv_columns() {
    return {"matrix",
            "n",
            "nnz",
            "solver",
            "backend",
            "devices",
            "operator",
            "format",
            "us_per_iteration/median",
            "us_per_iteration/p10",
            "us_per_iteration/p90",
            "gb_per_s",
            "ratio_to_limit",
            "speedup",
            "iterations",
            "solve_seconds/median",
            "relative_true_residual",
            "same_bits",
            "setup_seconds",
            "void_because"};
}

std::string solver_table_head() {
    return fmt::format(
        "{:<28} {:<8} {:>2} {:<9} {:<6} {:>9} {:>9} {:>9} {:>7} {:>6} {:>8} {:>5} {:>9} {:>9}\n",
        "matrix", "solver", "p", "operator", "format", "us/iter", "p10", "p90", "GB/s", "limit",
        "speed-up", "iter", "solve ms", "residual");
}

std::string solver_table_lines(const json& row) {
    const json us = row.value("us_per_iteration", json::object());
    std::string lines = fmt::format(
        "{:<28} {:<8} {:>2} {:<9} {:<6} {:>9} {:>9} {:>9} {:>7} {:>6} {:>8} {:>5} {:>9} {:>9}{}\n",
        tool::one_line(row["matrix"].get<std::string>()), row.value("solver", "-").substr(0, 8),
        row["devices"].get<int>(), row.value("operator", "-"), row.value("format", "-"),
        cell(us, "median", "{:.2f}"), cell(us, "p10", "{:.2f}"), cell(us, "p90", "{:.2f}"),
        cell(row, "gb_per_s", "{:.1f}"), cell(row, "ratio_to_limit", "{:.1f}%", 100),
        cell(row, "speedup", "{:.2f}"), cell(row, "iterations", "{:.0f}"),
        median(row, "solve_seconds", "{:.2f}", 1e3), cell(row, "relative_true_residual", "{:.2e}"),
        row["void_because"].empty() ? "" : " VOID");
    for (const json& why : row["void_because"]) {
        lines += fmt::format("    void: {}\n", why.get<std::string>());
    }
    if (row.contains("krylith_faster_by")) {
        lines +=
            fmt::format("    krylith is {:.2f}x faster an iteration than {}\n",
                        row["krylith_faster_by"].get<double>(), row["solver"].get<std::string>());
    }
    if (row.contains("passes_us")) {
        lines += "    passes, us:";
        for (const auto& [pass, time] : row["passes_us"].items()) {
            lines += fmt::format("  {} {:.2f}", pass, time.get<double>());
        }
        lines += "\n";
    }
    return lines;
}

} // namespace krylith::bench
