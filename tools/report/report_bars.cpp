#include <krylith/tools/report/report_bars.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/report/html.hpp>
#include <krylith/tools/report/report_fields.hpp>

namespace krylith::tool {

namespace {

/// As many colours as the style sheet has.
constexpr std::size_t bar_colours = 6;

struct piece {
    std::string name;
    double size;
    std::string words;
};

/// A row of the table: its name, pieces side by side as parts of `most`, and words behind them.
std::string bar(const std::string& name, const std::vector<piece>& pieces, double most,
                const std::string& words, std::size_t first_colour) {
    std::string parts;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        if (!(pieces[k].size > 0) || !(most > 0)) continue;
        parts +=
            html::element("span",
                          fmt::format("class=\"piece c{}\" style=\"width:{:.3f}%\" "
                                      "title=\"{}: {}\"",
                                      (first_colour + k) % bar_colours, 100 * pieces[k].size / most,
                                      html::text(pieces[k].name), html::text(pieces[k].words)),
                          "");
    }
    return html::element("tr", "",
                         "<th>" + html::text(name) + "</th><td class=\"bar\">" +
                             html::element("div", "class=\"pieces\"", parts) +
                             "</td><td class=\"number\">" + html::text(words) + "</td>");
}

} // namespace

std::string time_bars(const json& report) {
    double most = 0;
    for (const report_field& phase : phase_fields())
        most = std::max(most, number_at(report, phase.pointer).value_or(0));
    std::string rows;
    std::size_t colour = 0;
    for (const report_field& phase : phase_fields()) {
        const auto seconds = number_at(report, phase.pointer);
        if (!seconds) continue;
        const std::string words = in_seconds(*seconds);
        rows += bar(phase.name, {{phase.name, *seconds, words}}, most, words, colour++);
    }
    return rows.empty() ? rows : html::element("table", "class=\"bars\"", rows);
}

std::string memory_bars(const json& report) {
    if (!report.contains("bytes_per_device")) return {};
    const json& devices = report["bytes_per_device"];
    double most = 0;
    for (const json& device : devices)
        most = std::max(most, number_at(device, "/total").value_or(0));
    std::string rows;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
        std::vector<piece> pieces;
        std::string words = in_bytes(number_at(devices[rank], "/total").value_or(0));
        std::string list;
        for (const auto& [name, bytes] : devices[rank].items()) {
            if (name == "total" || !bytes.is_number()) continue;
            pieces.push_back({name, bytes.get<double>(), in_bytes(bytes.get<double>())});
            list += (list.empty() ? ": " : ", ") + name + " " + pieces.back().words;
        }
        rows += bar(fmt::format("device {}", rank), pieces, most, words + list, 0);
    }
    return rows.empty() ? rows : html::element("table", "class=\"bars\"", rows);
}

} // namespace krylith::tool
