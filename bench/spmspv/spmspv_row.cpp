#include <krylith/bench/spmspv/spmspv_row.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace krylith::bench {

namespace {

constexpr const char* spmspv_line =
    "{:<28} {:<8} {:>9} {:>10} {:<5} {:<5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}{}\n";

/// Microseconds with 4 significant digits: there are thousands of rows.
double rounded_us(double seconds) {
    return std::stod(fmt::format("{:.4g}", seconds * 1e6));
}

} // namespace

json matrix_row(const std::string& matrix, const spmspv::matrix_features& features) {
    const spmspv::feature_values all = spmspv::join(features, {});
    json values = json::object();
    for (int k = 0; k < static_cast<int>(spmspv::feature::entries); ++k) {
        const auto place = static_cast<std::size_t>(k);
        values[std::string(spmspv::feature_names[place])] = all[place];
    }
    return {{"matrix", matrix}, {"features", values}};
}

json product_row(const std::string& matrix, const test_vector& x, const spmspv_numbers& numbers) {
    json times = json::object();
    for (std::size_t given = 0; given < given_names.size(); ++given) {
        for (std::size_t wanted = 0; wanted < wanted_names.size(); ++wanted) {
            json& list = times[given_names[given]][wanted_names[wanted]];
            for (const spmspv::kernel k : numbers.kernels) {
                list.push_back(
                    rounded_us(numbers.seconds[given][wanted][static_cast<std::size_t>(k)]));
            }
        }
    }
    return {{"matrix", matrix},
            {"vector", to_string(x.kind)},
            {"entries", x.indices.size()},
            {"work", numbers.frontier_nonzeros},
            {"count_us", rounded_us(numbers.count_seconds)},
            {"us", times},
            {"void_because", numbers.void_because}};
}

std::string spmspv_table_head() {
    return fmt::format(fmt::runtime(spmspv_line), "matrix", "x", "entries", "work", "given", "want",
                       "spmv", "balanced", "row", "balanced", "atomic", "sort", "b-atomic",
                       "b-sort", "");
}

std::string spmspv_table_lines(const json& row, std::span<const spmspv::kernel> kernels) {
    std::string major_size;
    for (const char* const given : given_names) {
        for (const char* const wanted : wanted_names) {
            const auto us = row["us"][given][wanted].get<std::vector<double>>();
            const double least = *std::ranges::min_element(us);
            const auto cell = [&](int number) -> std::string {
                const auto found = std::ranges::find(kernels, static_cast<spmspv::kernel>(number));
                if (found == kernels.end()) {
                    return "- ";
                }
                const double own = us[static_cast<std::size_t>(found - kernels.begin())];
                return fmt::format("{:.1f}{}", own, own == least ? "*" : " ");
            };
            major_size += fmt::format(fmt::runtime(spmspv_line), row["matrix"].get<std::string>(),
                                      row["vector"].get<std::string>(), row["entries"].get<long>(),
                                      row["work"].get<long>(), given, wanted, cell(0), cell(1),
                                      cell(2), cell(3), cell(4), cell(5), cell(6), cell(7),
                                      row["void_because"].empty() ? "" : "  VOID");
        }
    }
    for (const json& why : row["void_because"]) {
        major_size += fmt::format("    void: {}\n", why.get<std::string>());
    }
    return major_size;
}

} // namespace krylith::bench
