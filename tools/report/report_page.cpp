#include <krylith/tools/report/report_page.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/report/html.hpp>
#include <krylith/tools/report/report_bars.hpp>
#include <krylith/tools/report/report_curve.hpp>
#include <krylith/tools/report/report_fields.hpp>
#include <krylith/tools/report/report_style.hpp>

namespace krylith::tool {

namespace {

std::string heading(const char* text, const std::string& content) {
    return content.empty() ? content : html::element("h3", "", html::text(text)) + content;
}

bool converged(const json& report) {
    return report.contains("converged") && report["converged"] == true;
}

std::string verdict(const json& report) {
    if (const std::string error = text_at(report, "/error"); !error.empty())
        return html::element("p", "class=\"bad\"", html::text("Not solved: " + error));
    return html::element("p", converged(report) ? "class=\"good\"" : "class=\"bad\"",
                         html::text(fmt::format(
                             "{}{} after {} iterations",
                             converged(report) ? "" : "NOT converged: ", text_at(report, "/reason"),
                             number_at(report, "/iterations").value_or(0))));
}

std::string facts(const json& report) {
    std::string rows;
    for (const report_field& field : outcome_fields())
        if (const auto words = in_words(report, field)) rows += html::named_row(field.name, *words);
    return html::element("table", "", rows);
}

/// "relative_true_residual" as words.
std::string spaced(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
}

field_kind kind_of(const std::string& name) {
    if (name.ends_with("seconds")) return field_kind::seconds;
    return name.ends_with("residual") ? field_kind::scientific : field_kind::plain;
}

std::string notes(const json& report) {
    std::string out;
    if (const std::string diagnosis = text_at(report, "/diagnosis"); !diagnosis.empty())
        out += html::element("p", "class=\"note\"", html::text(diagnosis));
    if (report.contains("warnings"))
        for (const json& warning : report["warnings"])
            if (warning.is_string())
                out += html::element("p", "class=\"note\"",
                                     html::text("Warning: " + warning.get<std::string>()));
    return out;
}

/// What auto tried: a table with the fields of the first attempt as its columns.
std::string attempts_table(const json& report) {
    if (!report.contains("attempts") || !report["attempts"].is_array() ||
        report["attempts"].empty() || !report["attempts"].front().is_object())
        return {};
    std::string head;
    for (const auto& [name, value] : report["attempts"].front().items())
        head += "<th>" + html::text(spaced(name)) + "</th>";
    std::string rows;
    for (const json& attempt : report["attempts"]) {
        std::string cells;
        for (const auto& [name, value] : attempt.items())
            cells += "<td>" + html::text(in_words(value, kind_of(name)).value_or("-")) + "</td>";
        rows += html::element("tr", "", cells);
    }
    return html::element("table", "",
                         "<thead><tr>" + head + "</tr></thead><tbody>" + rows + "</tbody>");
}

std::string command_of(const json& report, const char* pointer) {
    const std::string line = text_at(report, pointer);
    return line.empty() ? line : html::element("pre", "", html::text(line));
}

/// Everything but the history, place by place.
std::string all_fields(const json& report) {
    std::string rows;
    for (const auto& [name, value] : report.items()) {
        if (name == "history") continue;
        const json flat = value.is_structured() ? value.flatten() : json{{"", value}};
        for (const auto& [place, leaf] : flat.items())
            rows += html::named_row(name + place,
                                    leaf.is_string() ? leaf.get<std::string>() : leaf.dump());
    }
    return html::element("details", "",
                         html::element("summary", "", "All fields of the report") +
                             html::element("table", "", rows));
}

std::string picture(const std::string& svg) {
    return svg.empty() ? svg : html::element("div", "class=\"picture\"", svg);
}

std::string section(const page_entry& entry, std::size_t number) {
    const json& report = entry.report;
    const auto curves = curves_of({&report});
    std::string out = html::element("h2", fmt::format("id=\"solve{}\"", number),
                                    html::text(text_at(report, "/matrix/name")));
    out += verdict(report) + notes(report);
    out += heading("What was solved", facts(report));
    out += heading("What was tried", attempts_table(report));
    if (!curves.front().history.empty()) out += heading("Convergence", picture(draw(curves)));
    out += heading("Where the time went", time_bars(report));
    out += heading("Memory by device", memory_bars(report));
    out += heading("Where the entries lie", picture(entry.sparsity));
    out += heading("The command", command_of(report, "/command"));
    out += heading("To try next", command_of(report, "/next_command"));
    return html::element("section", "", out + all_fields(report));
}

/// The solves side by side, each with a link to its section.
std::string overview(std::span<const page_entry> entries) {
    std::string rows =
        "<thead><tr><th>matrix</th><th>solver</th><th>outcome</th><th>iterations</th>"
        "<th>solve</th></tr></thead>\n<tbody>";
    std::vector<const json*> drawn;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const json& report = entries[k].report;
        if (report.contains("history")) drawn.push_back(&report);
        const std::string preconditioner = text_at(report, "/preconditioner");
        const auto cell = [](const std::string& text) {
            return "<td>" + html::text(text) + "</td>";
        };
        rows += fmt::format(
            "<tr><td><a href=\"#solve{}\">{}</a></td>{}<td class=\"{}\">{}</td>{}{}</tr>\n", k + 1,
            html::text(text_at(report, "/matrix/name")),
            cell(text_at(report, "/solver") + (preconditioner.empty() || preconditioner == "none"
                                                   ? ""
                                                   : " + " + preconditioner)),
            converged(report) ? "good" : "bad",
            html::text(report.contains("error") ? "not solved" : text_at(report, "/reason")),
            cell(in_words(report, {"", "/iterations"}).value_or("-")),
            cell(in_words(report, {"", "/solve_seconds", field_kind::seconds}).value_or("-")));
    }
    const std::string curves = drawn.empty() ? "" : picture(draw(curves_of(drawn)));
    return html::element("table", "", rows + "</tbody>") + curves;
}

} // namespace

std::string html_report(std::span<const page_entry> entries) {
    const std::string title = entries.size() == 1
                                  ? "krylith: " + text_at(entries.front().report, "/matrix/name")
                                  : fmt::format("krylith: {} solves", entries.size());
    std::string body = html::element("h1", "", html::text(title));
    if (entries.size() > 1) body += overview(entries);
    for (std::size_t k = 0; k < entries.size(); ++k) body += section(entries[k], k + 1);
    if (!entries.empty())
        body += html::element(
            "p", "",
            html::text("Written by krylith " + text_at(entries.front().report, "/version")));
    return "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
           "<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n" +
           html::element("title", "", html::text(title)) +
           html::element("style", "", report_style) + "</head>\n" +
           html::element("body", "", body) + "</html>\n";
}

} // namespace krylith::tool
