#include <krylith/bench/spmv/spmv_row.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/model/models.hpp>

namespace krylith::bench {

namespace {

/// The operator's name, "auto:halo" where the library chose it.
std::string operator_of(const json& row) {
    const std::string taken = row["operator"];
    const std::string asked = row.value("asked", taken);
    return asked == taken ? taken : asked + ":" + taken;
}

constexpr const char* spmv_line =
    "{:<32} {:>2} {:<11} {:<8} {:>10} {:>10} {:>10} {:>8} {:>7} {:>9} {:>9} {:>7} {:>7} {:>9} "
    "{:>9} {:>8}{}\n";

} // namespace

template <class T>
json spmv_row(const spmv_case& c, const workload& w, const spmv_numbers& numbers,
              const matrix_operator<T>& a, const memory_rate& rate) {
    const device_group& group = a.comm().devices();
    const double bytes = tool::traffic{w.n(), w.nnz(), sizeof(T)}.product();
    const double reached = bytes / numbers.product.median;
    std::int64_t matrix_bytes = 0;
    std::int64_t received = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
        matrix_bytes += a.matrix_bytes(rank);
        received = std::max(received, a.received(rank));
    }
    json row = {{"matrix", w.name},
                {"family", c.family},
                {"size", c.size},
                {"n", w.n()},
                {"nnz", w.nnz()},
                {"backend", to_string(group.kind())},
                {"devices", group.size()},
                {"operator", to_string(a.kind())},
                {"format", a.format_name()},
                {"narrow_fraction", a.narrow_fraction()},
                {"us", to_json(numbers.product, 1e6)},
                {"model_bytes", bytes},
                {"matrix_bytes", matrix_bytes},
                {"most_received_entries", received},
                {"gb_per_s", reached * 1e-9},
                {"largest_error", numbers.largest_error}};
    if (rate.known()) {
        row["ratio_to_limit"] = reached / rate.limit_of(group.size());
        row["ratio_to_copy"] = reached / rate.copy_of(group.size());
    }
    if (numbers.product_dot.samples > 0) {
        row["us_with_dot"] = to_json(numbers.product_dot, 1e6);
        row["gb_per_s_with_dot"] = bytes / numbers.product_dot.median * 1e-9;
    }
    row["void_because"] = numbers.void_because;
    return row;
}

template json spmv_row(const spmv_case&, const workload&, const spmv_numbers&,
                       const matrix_operator<double>&, const memory_rate&);
template json spmv_row(const spmv_case&, const workload&, const spmv_numbers&,
                       const matrix_operator<float>&, const memory_rate&);

void add_comparison(json& row, const one_device& one, double setup_seconds,
                    std::optional<double> partition_seconds) {
    const double seconds = row["us"]["median"].get<double>() * 1e-6;
    if (one.cusparse > 0) {
        row["speedup_over_cusparse"] = one.cusparse / seconds;
    }
    row["setup_seconds"] = setup_seconds;
    if (one.fastest > 0) {
        row["speedup"] = one.fastest / seconds;
        row["setup_in_products"] = setup_seconds / one.fastest;
        if (partition_seconds) {
            row["partition_in_products"] = *partition_seconds / one.fastest;
        }
    }
}

void add_limit(json& row, const spmv_limit& limit) {
    const double seconds = row["us"]["median"].get<double>() * 1e-6;
    row["compute_us"] = limit.compute * 1e6;
    row["transfer_us"] = limit.transfer * 1e6;
    row["waiting_us"] = limit.waiting * 1e6;
    row["limit_us"] = limit.seconds() * 1e6;
    row["fraction_of_limit"] = limit.seconds() / seconds;
    if (const auto hidden = limit.hidden(seconds)) {
        row["transfer_hidden"] = *hidden;
    }
}

json failed_product(const spmv_case& c, int devices, const std::string& kind,
                    const std::string& format, const std::string& why) {
    return {{"matrix", c.matrix},
            {"family", c.family},
            {"size", c.size},
            {"devices", devices},
            {"operator", kind},
            {"format", format},
            {"void_because", json::array({why})}};
}

std::vector<std::string> spmv_csv_columns() {
    // clang-format off
    return {
        "family", "size", "matrix", "n",
        "nnz", "backend", "devices", "asked",
        "operator", "transport", "format", "us/median",
        "us/p10", "us/p90", "us_with_dot/median", "gb_per_s",
        "speedup", "speedup_over_cusparse", "compute_us", "transfer_us", "waiting_us",
        "limit_us", "fraction_of_limit", "transfer_hidden", "setup_in_products",
        "partition_in_products", "largest_error", "void_because",
    };
    // clang-format on
}

std::string spmv_table_head() {
    return fmt::format(fmt::runtime(spmv_line), "matrix", "p", "operator", "format", "us", "p10",
                       "p90", "GB/s", "speedup", "xcusparse", "limit us", "of it", "hidden",
                       "setup", "partition", "error", "");
}

std::string spmv_table_lines(const json& row) {
    const json us = row.value("us", json::object());
    std::string lines = fmt::format(
        fmt::runtime(spmv_line), tool::one_line(row["matrix"].get<std::string>()),
        row["devices"].get<int>(), operator_of(row), row["format"].get<std::string>(),
        cell(us, "median", "{:.2f}"), cell(us, "p10", "{:.2f}"), cell(us, "p90", "{:.2f}"),
        cell(row, "gb_per_s", "{:.1f}"), cell(row, "speedup", "{:.2f}"),
        cell(row, "speedup_over_cusparse", "{:.2f}"), cell(row, "limit_us", "{:.2f}"),
        cell(row, "fraction_of_limit", "{:.0f}%", 100),
        cell(row, "transfer_hidden", "{:.0f}%", 100), cell(row, "setup_in_products", "{:.0f}"),
        cell(row, "partition_in_products", "{:.2f}"), cell(row, "largest_error", "{:.1e}"),
        row["void_because"].empty() ? "" : "  VOID");
    for (const json& why : row["void_because"]) {
        lines += fmt::format("    void: {}\n", why.get<std::string>());
    }
    return lines;
}

} // namespace krylith::bench
