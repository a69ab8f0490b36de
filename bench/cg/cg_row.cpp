#include <krylith/bench/cg/cg_row.hpp>

#include <fmt/format.h>

namespace krylith::bench {

namespace {

/// row[key] in this form, "-" where the row has none.
std::string cell(const json& row, const char* key, const char* form, double unit = 1) {
    return row.contains(key) ? fmt::format(fmt::runtime(form), row[key].get<double>() * unit)
                             : std::string("-");
}

std::string median(const json& row, const char* key, const char* form, double unit = 1) {
    return row.contains(key) ? cell(row[key], "median", form, unit) : std::string("-");
}

} // namespace

json cg_row(const workload& w, const cg_numbers& numbers, backend kind, int devices,
            const memory_rate& rate) {
    const double bytes = cg_bytes(w);
    const double achieved = bytes / numbers.iteration.median;
    json row = {{"matrix", w.name},
                {"n", w.n()},
                {"nnz", w.nnz()},
                {"solver", numbers.solver},
                {"backend", to_string(kind)},
                {"devices", devices},
                {"us_per_iteration", to_json(numbers.iteration, 1e6)},
                {"model_bytes", bytes},
                {"gb_per_s", achieved * 1e-9},
                {"ratio_to_limit", achieved / rate.limit_of(devices)},
                {"ratio_to_copy", achieved / rate.copy_of(devices)},
                {"generation_seconds", w.seconds},
                {"setup_seconds", numbers.setup_seconds}};
    if (numbers.solve.samples > 0) {
        row["solve_seconds"] = to_json(numbers.solve, 1);
        row["reason"] = numbers.first.reason;
        row["iterations"] = numbers.first.iterations;
        row["relative_true_residual"] = numbers.relative_residual;
    }
    row["void_because"] = numbers.void_because;
    return row;
}

void add_operator(json& row, const krylith_cg& ours) {
    const auto& a = ours.a();
    const device_group& group = a.layout()->group;
    json bytes = json::array();
    json received = json::array();
    for (int rank = 0; rank < group.size(); ++rank) {
        bytes.push_back(a.matrix_bytes(rank));
        received.push_back(a.received(rank));
    }
    row["operator"] = to_string(a.kind());
    row["format"] = a.format_name();
    row["recorded"] = ours.recorded();
    row["matrix_bytes"] = bytes;
    row["received_entries"] = received;
}

void add_passes(json& row, const cg_passes& passes) {
    row["passes_us"] = {{"all", passes.all * 1e6},
                        {"product", passes.product * 1e6},
                        {"residual", passes.residual * 1e6},
                        {"direction", passes.direction * 1e6}};
}

json failed_row(const std::string& matrix, int devices, const std::string& why) {
    return {{"matrix", matrix}, {"devices", devices}, {"void_because", json::array({why})}};
}

std::string cg_table_head() {
    return fmt::format("{:<28} {:<8} {:>2} {:>9} {:>9} {:>9} {:>7} {:>6} {:>7} {:>5} {:>9} {:>9}\n",
                       "matrix", "solver", "p", "us/iter", "p10", "p90", "GB/s", "limit", "speedup",
                       "iter", "solve ms", "residual");
}

std::string cg_table_lines(const json& row) {
    const json us = row.value("us_per_iteration", json::object());
    std::string lines = fmt::format(
        "{:<28} {:<8} {:>2} {:>9} {:>9} {:>9} {:>7} {:>6} {:>7} {:>5} {:>9} {:>9}{}\n",
        row["matrix"].get<std::string>(), row.value("solver", "-").substr(0, 8),
        row["devices"].get<int>(), cell(us, "median", "{:.2f}"), cell(us, "p10", "{:.2f}"),
        cell(us, "p90", "{:.2f}"), cell(row, "gb_per_s", "{:.1f}"),
        cell(row, "ratio_to_limit", "{:.1f}%", 100), cell(row, "speedup", "{:.2f}"),
        cell(row, "iterations", "{:.0f}"), median(row, "solve_seconds", "{:.2f}", 1e3),
        cell(row, "relative_true_residual", "{:.2e}"), row["void_because"].empty() ? "" : " VOID");
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
