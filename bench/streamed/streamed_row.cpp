#include <krylith/bench/streamed/streamed_row.hpp>

#include <fmt/format.h>

namespace krylith::bench {

namespace {

constexpr const char* streamed_line =
    "{:<28} {:<12} {:<8} {:>2} {:>10} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7} {:>7} {:>7} "
    "{:>7}{}\n";

json described_case(const streamed_case& c) {
    return {{"matrix", c.matrix},   {"n", c.n},
            {"nnz", c.nnz},         {"format", c.format},
            {"version", c.version}, {"devices", c.devices},
            {"pinned", c.pinned}};
}

/// Microseconds.
double total(const json& row) {
    return row.at("us").at("median").get<double>();
}

double kernels(const json& row) {
    return row.at("us_of").at("kernel_alone").at("median").get<double>();
}

std::string cell_at(const json& row, const char* pointer, const char* form, double unit = 1) {
    const json::json_pointer place(pointer);
    return row.contains(place) ? fmt::format(fmt::runtime(form), row.at(place).get<double>() * unit)
                               : std::string("-");
}

/// The row of the same matrix that is like `row` but for `differs`, by its value.
const json* find(const std::vector<json>& rows, const json& row, const char* differs,
                 const json& value) {
    for (const json& other : rows) {
        bool same = !is_void(other) && other.at(differs) == value;
        for (const char* key : {"matrix", "format", "version", "devices"}) {
            same = same && (std::string(key) == differs || other.at(key) == row.at(key));
        }
        if (same) {
            return &other;
        }
    }
    return nullptr;
}

} // namespace

json streamed_row(const streamed_case& c, const streamed_numbers& numbers) {
    json row = described_case(c);
    row["us"] = to_json(numbers.total, 1e6);
    row["us_of"] = {{"partition", to_json(numbers.partition, 1e6)},
                    {"distribution", to_json(numbers.distribution, 1e6)},
                    {"kernel", to_json(numbers.kernel, 1e6)},
                    {"merge", to_json(numbers.merge, 1e6)},
                    {"conversion", to_json(numbers.conversion, 1e6)},
                    {"kernel_alone", to_json(numbers.kernel_alone, 1e6)}};
    row["partition_share"] = numbers.partition.median / numbers.total.median;
    row["merge_share"] = numbers.merge.median / numbers.total.median;
    row["largest_error"] = numbers.largest_error;
    row["void_because"] = numbers.void_because;
    return row;
}

json failed_msrep(const streamed_case& c, const std::string& why) {
    json row = described_case(c);
    row["void_because"] = json::array({why});
    return row;
}

void add_speedups(std::vector<json>& rows) {
    for (json& row : rows) {
        if (is_void(row)) {
            continue;
        }
        const json* fewest = nullptr;
        for (int devices = 1; devices <= row.at("devices").get<int>() && fewest == nullptr;
             ++devices) {
            fewest = find(rows, row, "devices", devices);
        }
        row["speedup_is_over"] = fewest->at("devices");
        row["speedup"] = total(*fewest) / total(row);
        row["kernel_speedup"] = kernels(*fewest) / kernels(row);
        if (const json* baseline = find(rows, row, "version", "baseline")) {
            row["speedup_over_baseline"] = total(*baseline) / total(row);
        }
    }
}

std::vector<std::string> streamed_csv_columns() {
    // clang-format off
    return {
        "matrix", "n", "nnz", "format", "version", "devices", "pinned",
        "us/median", "us/p10", "us/p90",
        "us_of/partition/median", "us_of/partition/p10", "us_of/partition/p90",
        "us_of/distribution/median", "us_of/distribution/p10", "us_of/distribution/p90",
        "us_of/kernel/median", "us_of/kernel/p10", "us_of/kernel/p90",
        "us_of/merge/median", "us_of/merge/p10", "us_of/merge/p90",
        "us_of/conversion/median", "us_of/kernel_alone/median",
        "partition_share", "merge_share", "speedup", "speedup_is_over", "kernel_speedup",
        "speedup_over_baseline", "largest_error", "void_because",
    };
    // clang-format on
}

std::string streamed_table_head() {
    return fmt::format(fmt::runtime(streamed_line), "matrix", "format", "version", "p", "total us",
                       "partition", "distribute", "kernel", "merge", "convert", "alone", "part. %",
                       "merge %", "speedup", "kernels", "xbase", "");
}

std::string streamed_table_lines(const json& row) {
    std::string lines =
        fmt::format(fmt::runtime(streamed_line), row["matrix"].get<std::string>(),
                    row["format"].get<std::string>(), row["version"].get<std::string>(),
                    row["devices"].get<int>(), cell_at(row, "/us/median", "{:.1f}"),
                    cell_at(row, "/us_of/partition/median", "{:.1f}"),
                    cell_at(row, "/us_of/distribution/median", "{:.1f}"),
                    cell_at(row, "/us_of/kernel/median", "{:.1f}"),
                    cell_at(row, "/us_of/merge/median", "{:.1f}"),
                    cell_at(row, "/us_of/conversion/median", "{:.1f}"),
                    cell_at(row, "/us_of/kernel_alone/median", "{:.1f}"),
                    cell_at(row, "/partition_share", "{:.1f}", 100),
                    cell_at(row, "/merge_share", "{:.1f}", 100), cell_at(row, "/speedup", "{:.2f}"),
                    cell_at(row, "/kernel_speedup", "{:.2f}"),
                    cell_at(row, "/speedup_over_baseline", "{:.2f}"), is_void(row) ? "  VOID" : "");
    for (const json& why : row["void_because"]) {
        lines += fmt::format("    void: {}\n", why.get<std::string>());
    }
    return lines;
}

} // namespace krylith::bench
