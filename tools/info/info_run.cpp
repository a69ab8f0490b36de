#include <krylith/tools/info/info_run.hpp>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

matrix_info inspect(const std::string& name, const csr_matrix<double>& matrix,
                    const std::vector<int>& device_counts) {
    for (const int count : device_counts)
        if (count < 1 || count > max_ranks)
            throw usage_error("--device-counts has " + std::to_string(count) +
                              ": allowed are 1 to " + std::to_string(max_ranks));
    matrix_info info;
    info.name = name;
    stopwatch watch;
    info.statistics = describe(matrix);
    info.kind = classify(info.statistics);
    info.statistics_seconds = watch.lap();
    if (info.statistics.square() && matrix.rows > 0)
        info.footprints = footprints(csr_view<double>(matrix), device_counts);
    info.footprint_seconds = watch.lap();
    return info;
}

namespace {

json entry(const std::optional<mirrored_entry>& e) {
    if (!e) return {};
    // Counted from 1, as in the file.
    return {
        {"row", e->row + 1}, {"column", e->column + 1}, {"value", e->here}, {"mirror", e->there}};
}

json symmetry(const matrix_statistics& s) {
    if (!s.symmetry) return {};
    const symmetry_statistics& y = *s.symmetry;
    return {{"off_diagonal", y.off_diagonal},
            {"matched_places", y.matched_places},
            {"matched_values", y.matched_values},
            {"negated_values", y.negated_values},
            {"by_pattern", y.by_pattern()},
            {"by_values", y.by_values()},
            {"largest_difference", y.largest_difference},
            {"relative_difference",
             s.values.largest > 0 ? y.largest_difference / s.values.largest : 0.0},
            {"first_difference", entry(y.first_difference)}};
}

json diagonal(const diagonal_statistics& d) {
    return {{"length", d.length},
            {"missing", d.missing},
            {"zeros", d.zeros},
            {"positive", d.positive},
            {"negative", d.negative},
            {"least", d.least},
            {"most", d.most},
            {"smallest_magnitude", d.smallest},
            {"weakly_dominant_rows", d.weakly_dominant},
            {"strictly_dominant_rows", d.strictly_dominant},
            {"worst_row", d.worst_row < 0 ? json() : json(d.worst_row + 1)},
            {"worst_ratio", d.worst_ratio}};
}

json footprint_row(const footprint& f) {
    json row = {{"devices", f.devices},
                {"operator", to_string(f.kind)},
                {"automatic", f.automatic},
                {"rows", f.owned},
                {"matrix_bytes", json::object()},
                {"sell_padding", f.sell_padding},
                {"cuda_format", to_string(f.cuda_format)},
                {"received_entries", f.received},
                {"moved_entries", f.moved}};
    for (const format_kind format : formats::all)
        row["matrix_bytes"][to_string(format)] = f.matrix_bytes(format);
    for (const solver_method* solver : listed_solvers()) {
        const method with = listed_method(*solver);
        method without = with;
        without.preconditioner = identity::name();
        const std::string name(solver->name);
        row["vector_bytes"][name] = f.vector_bytes(with);
        // Where the model knows no preconditioner: without one.
        row["iteration_bytes"][name] = f.iteration_bytes(vector_passes(with) ? with : without);
    }
    return row;
}

} // namespace

std::string json_report(const matrix_info& info) {
    const matrix_statistics& s = info.statistics;
    json report;
    report["schema_version"] = report_schema;
    report["version"] = KRYLITH_VERSION;
    report["matrix"] = {
        {"name", info.name}, {"rows", s.rows}, {"columns", s.columns}, {"nnz", s.nnz()}};
    if (!info.file.layout.empty())
        report["file"] = {{"layout", info.file.layout},         {"field", info.file.field},
                          {"symmetry", info.file.symmetry},     {"entries", info.file.entries},
                          {"duplicates", info.file.duplicates}, {"rounded", info.file.rounded},
                          {"vanished", info.file.vanished},     {"ignored", info.file.ignored}};
    report["class"] = to_string(info.kind.what);
    report["class_words"] = info.kind.words;
    report["hints"] = info.kind.hints;
    report["stored"] = s.stored;
    report["duplicates"] = s.duplicates;
    report["sorted"] = s.sorted;
    report["row_lengths"] = {{"least", s.lengths.least}, {"most", s.lengths.most},
                             {"mean", s.lengths.mean},   {"deviation", s.lengths.deviation},
                             {"gini", s.lengths.gini},   {"empty", s.lengths.empty}};
    report["power_law"] = s.length_law ? json{{"exponent", s.length_law->exponent},
                                              {"deviation", s.length_law->deviation},
                                              {"from", s.length_law->from},
                                              {"rows", s.length_law->rows},
                                              {"distance", s.length_law->distance}}
                                       : json();
    report["empty_columns"] = s.empty_columns;
    report["bandwidth"] = {{"lower", s.bandwidth.lower}, {"upper", s.bandwidth.upper}};
    report["symmetry"] = symmetry(s);
    report["indefinite_at"] = entry(s.indefinite_at);
    report["diagonal"] = diagonal(s.diagonal);
    report["values"] = {{"smallest_magnitude", s.values.smallest},
                        {"largest_magnitude", s.values.largest},
                        {"stored_zeros", s.values.zeros},
                        {"not_finite", s.values.not_finite},
                        {"zero_row_sums", s.values.zero_row_sums}};
    report["footprints"] = json::array();
    for (const footprint& f : info.footprints) report["footprints"].push_back(footprint_row(f));
    report["load_seconds"] = info.load_seconds;
    report["statistics_seconds"] = info.statistics_seconds;
    report["footprint_seconds"] = info.footprint_seconds;
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace krylith::tool
