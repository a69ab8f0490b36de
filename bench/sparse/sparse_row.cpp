#include <krylith/bench/sparse/sparse_row.hpp>

#include <filesystem>

#include <fmt/format.h>

#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

namespace {

constexpr const char* line_format =
    "{:<24} {:<10} {:<24} {:>7} {:>10} {:>10} {:>7} {:>8} {:>8} {:>9} {:>10} {:>10} {:>8} {:>11} "
    "{:>9}{}\n";

std::string number_or_blank(const json& value, const char* format) {
    return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>()) : "";
}

/// "poisson3d:256" of the gallery's names, the name of the file of others.
std::string short_name(const std::string& matrix) {
    const std::string gallery = "gallery:";
    return matrix.starts_with(gallery) ? matrix.substr(gallery.size())
                                       : std::filesystem::path(matrix).filename().string();
}

} // namespace

json sparse_row(const sparse_subject& subject, const sparse_line& line) {
    json row = {{"matrix", subject.c.matrix},
                {"family", subject.c.family},
                {"size", subject.c.size},
                {"devices", 1},
                {"n", subject.rows},
                {"columns", subject.columns},
                {"nnz", subject.nonzeros},
                {"mean_row", subject.facts.mean_row},
                {"longest_row", subject.facts.longest_row},
                {"skew", subject.facts.skew},
                {"spread", subject.facts.spread},
                {"kernel", line.kernel},
                {"variant", line.variant},
                {"peer", line.peer}};
    if (line.seconds > 0) {
        row["ms"] = {{"median", 1e3 * line.seconds}, {"least", 1e3 * line.least}};
        row["gnnz_per_s"] = 1e-9 * static_cast<double>(subject.nonzeros) / line.seconds;
        if (line.bytes > 0) row["gb_per_s"] = 1e-9 * static_cast<double>(line.bytes) / line.seconds;
        if (line.flops > 0) row["gflops"] = 1e-9 * static_cast<double>(line.flops) / line.seconds;
    }
    if (subject.threads > 0) row["threads"] = subject.threads;
    if (line.set_up > 0) row["set_up_ms"] = 1e3 * line.set_up;
    if (line.peer_set_up > 0) row["peer_set_up_ms"] = 1e3 * line.peer_set_up;
    if (line.peer_seconds > 0) {
        row["peer_ms"] = 1e3 * line.peer_seconds;
        if (line.seconds > 0) row["speedup"] = line.peer_seconds / line.seconds;
    }
    row["bytes"] = line.bytes;
    row["flops"] = line.flops;
    row["memory_bytes"] = line.memory;
    row["deviation"] = line.deviation;
    row["note"] = line.note;
    row["void_because"] = json::array();
    return row;
}

json failed_sparse_row(const sparse_subject& subject, std::string_view kernel,
                       const std::string& why) {
    sparse_line line;
    line.kernel = kernel;
    json row = sparse_row(subject, line);
    row["void_because"].push_back(why);
    return row;
}

std::vector<std::string> sparse_csv_columns() {
    return {"matrix",      "n",       "columns",        "nnz",          "mean_row",  "longest_row",
            "skew",        "spread",  "kernel",         "variant",      "threads",   "ms/median",
            "ms/least",    "scaling", "gb_per_s",       "gflops",       "set_up_ms", "peer",
            "peer_ms",     "speedup", "peer_set_up_ms", "memory_bytes", "deviation", "note",
            "void_because"};
}

std::string sparse_table_head() {
    return fmt::format(fmt::runtime(line_format), "matrix", "kernel", "", "threads", "ms", "least",
                       "scaling", "GB/s", "GFLOP/s", "extra MB", "set-up ms", "peer ms", "speedup",
                       "peer set-up", "deviation", "");
}

std::string sparse_table_lines(const json& row) {
    const auto at = [&](const char* key) { return row.contains(key) ? row.at(key) : json(); };
    const auto text = [&](const char* key) { return row.at(key).get<std::string>(); };
    const json times = row.contains("ms") ? row.at("ms") : json::object();
    std::string more;
    if (!text("peer").empty()) more += "  beside " + text("peer");
    if (!text("note").empty()) more += "  " + text("note");
    if (!row.at("void_because").empty()) more += "  VOID";
    std::string lines = fmt::format(
        fmt::runtime(line_format), tool::one_line(short_name(text("matrix"))), text("kernel"),
        text("variant"), number_or_blank(at("threads"), "{:.0f}"),
        number_or_blank(times.value("median", json()), "{:.4f}"),
        number_or_blank(times.value("least", json()), "{:.4f}"),
        number_or_blank(at("scaling"), "{:.2f}x"), number_or_blank(at("gb_per_s"), "{:.1f}"),
        number_or_blank(at("gflops"), "{:.1f}"),
        fmt::format("{:.1f}", 1e-6 * row.at("memory_bytes").get<double>()),
        number_or_blank(at("set_up_ms"), "{:.4f}"), number_or_blank(at("peer_ms"), "{:.4f}"),
        number_or_blank(at("speedup"), "{:.2f}x"), number_or_blank(at("peer_set_up_ms"), "{:.4f}"),
        number_or_blank(at("deviation"), "{:.1e}"), more);
    for (const json& why : row.at("void_because"))
        lines += fmt::format("    void: {}\n", why.get<std::string>());
    return lines;
}

} // namespace krylith::bench
