#include <krylith/tools/info/info_run.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <krylith/solvers/options.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/quantities.hpp>

namespace krylith::tool {

namespace {

std::string info_line(const char* name, const std::string& text) {
    return named_line(name, text, 12);
}

std::string percent(std::int64_t part, std::int64_t whole) {
    if (whole == 0 || part == whole) return "100%";
    // Never rounded up to all of them.
    return fmt::format(
        "{:.4g}%", std::min(99.99, 100 * static_cast<double>(part) / static_cast<double>(whole)));
}

std::string pattern_lines(const matrix_statistics& s) {
    const row_lengths& r = s.lengths;
    std::string out =
        info_line("a row", fmt::format("{} to {} nonzeros, mean {:.4g}, deviation {:.3g}, "
                                       "Gini {:.3f}; {} empty",
                                       r.least, r.most, r.mean, r.deviation, r.gini, r.empty));
    if (s.length_law)
        out += info_line("power law",
                         fmt::format("exponent {:.3g} +- {:.2g} of the {} rows with {} nonzeros or "
                                     "more; Kolmogorov-Smirnov distance {:.3f}{}",
                                     s.length_law->exponent, s.length_law->deviation,
                                     s.length_law->rows, s.length_law->from, s.length_law->distance,
                                     s.length_law->distance > 0.1 ? ", a poor fit" : ""));
    if (s.duplicates > 0 || !s.sorted)
        out += info_line("stored",
                         fmt::format("{} entries, {} of them summed as duplicates; columns {} "
                                     "in rows",
                                     s.stored, s.duplicates, s.sorted ? "ascend" : "don't ascend"));
    if (s.empty_columns > 0) out += info_line("", fmt::format("{} empty columns", s.empty_columns));
    return out + info_line("bandwidth", fmt::format("{} below the diagonal, {} above",
                                                    s.bandwidth.lower, s.bandwidth.upper));
}

std::string symmetry_lines(const matrix_statistics& s) {
    if (!s.symmetry) return {};
    const symmetry_statistics& y = *s.symmetry;
    if (y.off_diagonal == 0) return info_line("symmetry", "no entries off the diagonal");
    std::string out =
        info_line("symmetry", fmt::format("places: {} of the off-diagonal entries have a "
                                          "mirror; values: {} equal it",
                                          percent(y.matched_places, y.off_diagonal),
                                          percent(y.matched_values, y.off_diagonal)));
    if (y.largest_difference > 0)
        out += info_line(
            "", fmt::format("|a_ij - a_ji| is {:.3g} at most, {:.2g} of the largest entry",
                            y.largest_difference, y.largest_difference / s.values.largest));
    return out;
}

std::string diagonal_lines(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.length == 0) return {};
    std::string out = info_line(
        "diagonal", fmt::format("{} positive, {} negative, {} zero{}; {:.4g} to "
                                "{:.4g}",
                                d.positive, d.negative, d.missing + d.zeros,
                                d.missing == 0 ? "" : fmt::format(" ({} not stored)", d.missing),
                                d.least, d.most));
    std::string dominance = fmt::format("{} of {} rows weakly, {} strictly", d.weakly_dominant,
                                        d.length, d.strictly_dominant);
    if (d.worst_row >= 0)
        dominance += fmt::format("; worst: row {}, {:.3g} of the others' sum", d.worst_row + 1,
                                 d.worst_ratio);
    return out + info_line("dominance", dominance);
}

std::string value_line(const matrix_statistics& s) {
    const value_statistics& v = s.values;
    std::string text = fmt::format("magnitudes {:.4g} to {:.4g}, {} stored zero{}", v.smallest,
                                   v.largest, v.zeros, v.zeros == 1 ? "" : "s");
    if (v.not_finite > 0) text += fmt::format(", {} NaN or infinite", v.not_finite);
    return info_line("values", text);
}

/// The formats that have a column.
std::vector<format_kind> listed_formats() {
    std::vector<format_kind> result;
    for (const format_kind format : formats::all)
        if (format->listed_as.empty()) result.push_back(format);
    return result;
}

/// "csr, sell: the matrix (merge, csr5, cusparse: as csr)".
std::string format_legend() {
    std::string text;
    for (const format_kind format : listed_formats())
        text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(format));
    text += ": the matrix (";
    bool first = true;
    for (const format_kind listed : listed_formats()) {
        std::string same;
        for (const format_kind format : formats::all)
            if (format->listed_as == listed->name)
                same += fmt::format("{}{}", same.empty() ? "" : ", ", to_string(format));
        if (same.empty()) continue;
        text += fmt::format("{}{}: as {}", first ? "" : "; ", same, to_string(listed));
        first = false;
    }
    return text + ")";
}

std::string table_row(const std::vector<std::string>& cells) {
    std::string text = fmt::format("{:<7} {:<9}", cells[0], cells[1]);
    for (std::size_t i = 2; i < cells.size(); ++i)
        text += fmt::format(" {:>{}}", cells[i], i + 3 < cells.size() ? 9 : 10);
    return text + "\n";
}

std::string heading_of(const solver_method& solver) {
    const method m = listed_method(solver);
    return std::string(solver.name) + (solver.restarts ? fmt::format("({})", m.restart) : "");
}

std::string footprint_table(const matrix_info& info) {
    if (info.footprints.empty()) return {};
    const std::vector<const solver_method*> solvers = listed_solvers();
    const solver_method& first = *solvers.front();
    std::string out = fmt::format(
        "\nBytes of the fullest device, fp64, with {} (* what auto takes, on H200; host "
        "devices: csr)\n",
        listed_method(first).preconditioner);
    std::vector<std::string> head = {"devices", "oper."};
    for (const format_kind format : listed_formats()) head.emplace_back(to_string(format));
    head.insert(head.end(), {"padding", "received"});
    std::string names;
    for (const solver_method* solver : solvers) {
        head.push_back(heading_of(*solver));
        names += (names.empty() ? "" : ", ") + std::string(solver->name);
    }
    head.push_back(std::string(first.name) + " iter.");
    out += table_row(head);
    for (const footprint& f : info.footprints) {
        const auto bytes = [](auto count) { return in_bytes(static_cast<double>(count)); };
        const bool choice = f.devices > 1 && f.automatic;
        std::vector<std::string> row = {
            std::to_string(f.devices),
            f.devices == 1 ? "-" : std::string(to_string(f.kind)) + (choice ? "*" : "")};
        for (const format_kind format : listed_formats()) {
            const bool taken = f.cuda_format == format || f.cuda_format->listed_as == format->name;
            row.push_back(bytes(f.matrix_bytes(format)) + (taken ? "*" : ""));
        }
        row.push_back(fmt::format("{:.1f}%", 100 * f.sell_padding));
        row.push_back(bytes(f.received * f.value_bytes));
        for (const solver_method* solver : solvers)
            row.push_back(bytes(f.vector_bytes(listed_method(*solver))));
        row.push_back(bytes(f.iteration_bytes(listed_method(first))));
        out += table_row(row);
    }
    return out + format_legend() + ". received: for each product. " + names + ": all vectors.\n";
}

} // namespace

std::vector<const solver_method*> listed_solvers() {
    std::vector<const solver_method*> listed;
    for (const solver_method* solver : all_solvers)
        if (solver->listed) listed.push_back(solver);
    return listed;
}

method listed_method(const solver_method& solver) {
    const auto first = std::ranges::find_if(
        all_preconditioners, [](const preconditioner_method* row) { return row->listed.get(); });
    const std::int64_t restart = solver_options{}.restart;
    return {solver.name, (*first)->name, restart, restart};
}

std::string summary(const matrix_info& info) {
    const matrix_statistics& s = info.statistics;
    std::string out = info_line("matrix", fmt::format("{}: {} rows, {} columns, {} nonzeros",
                                                      info.name, s.rows, s.columns, s.nnz()));
    if (!info.file.layout.empty()) out += info_line("file", in_words(info.file));
    out += info_line("kind", info.kind.words);
    for (const std::string& hint : info.kind.hints) out += info_line("", hint);
    if (s.rows == 0 || s.columns == 0) return out;
    out += pattern_lines(s) + symmetry_lines(s) + diagonal_lines(s) + value_line(s);
    out += info_line("time",
                     fmt::format("load {}, statistics {}, footprints {}",
                                 in_seconds(info.load_seconds), in_seconds(info.statistics_seconds),
                                 in_seconds(info.footprint_seconds)));
    return out + footprint_table(info);
}

} // namespace krylith::tool
