#include <krylith/tools/cli/shared_options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/spmv/operator_options.hpp>
#include <krylith/tools/cli/names.hpp>

namespace krylith::tool {

namespace {

/// The names, and :measured behind those that can be measured.
std::string operator_choices() {
    std::string text;
    for (const std::string_view name : operator_names()) {
        (text += text.empty() ? "" : "|") += name;
        const operator_kind kind = parse_operator_kind(name);
        if (!kind || kind->fractions.any()) ((text += '|') += name) += measured_suffix;
    }
    return text;
}

/// "csr (compressed rows), sell (slices of 32 rows)": the rows of a table in words.
template <class Row, std::size_t Count>
std::string rows_in_words(const std::array<table_choice<Row>, Count>& rows) {
    std::string text;
    for (const table_choice<Row> row : rows)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", to_string(row),
                            static_cast<std::string_view>(row->help));
    return text;
}

/// The operators of one of the fractions.
std::string owners(bool operator_fractions::*fraction) {
    return listed<operator_method>(operators::all,
                                   [&](operator_kind kind) { return kind->fractions.*fraction; });
}

std::string operator_help() {
    return fmt::format(
        "How parts of a product get to the devices: {}; auto is the fastest of {} "
        "by a model, auto:measured by trial, as are the fractions of rows with "
        "{}:measured",
        rows_in_words(operators::all),
        listed<operator_method>(operators::all,
                                [](operator_kind kind) { return kind->seconds != nullptr; }),
        listed<operator_method>(operators::all,
                                [](operator_kind kind) { return kind->fractions.any(); }));
}

std::string format_help() {
    return fmt::format(
        "Format of a device's block: {}; host devices have {}", rows_in_words(formats::all),
        listed<format_method>(formats::all, [](format_kind kind) { return kind->on_host; }));
}

} // namespace

void add_matrix(CLI::App& app, std::string& matrix, const std::string& name) {
    app.add_option(name, matrix,
                   "A file (see below), - for standard input, or gallery:NAME[:ARGUMENT...]")
        ->required()
        ->type_name("");
}

void add_spd(CLI::App& app, bool& spd) {
    app.add_flag(
        "--spd", spd,
        "Take (A + A')/2, its diagonal raised until it dominates, so that cg can run on any "
        "matrix");
}

void add_backend_options(CLI::App& app, device_options& options) {
    app.add_option("--backend", options.backend,
                   "Kind of the devices; auto is cuda where there is one")
        ->type_name(alternatives(backend_names))
        ->capture_default_str()
        ->group("Devices");
    app.add_option("--threads", options.threads,
                   "Threads of all host devices together; 0: one a core")
        ->type_name("N")
        ->capture_default_str()
        ->group("Devices");
    app.add_option(
           "--transport", options.transport,
           "How data crosses devices; staged copies even where direct access works; posted: "
           "those of several processes as if each were on a machine of its own")
        ->type_name(alternatives(group_transport_names))
        ->capture_default_str()
        ->group("Devices");
}

void add_device_options(CLI::App& app, device_options& options) {
    app.add_option("--devices", options.devices,
                   "The first N devices, or those of the list (0,2 or 2, for one)")
        ->type_name("N|LIST")
        ->capture_default_str()
        ->group("Devices");
    add_backend_options(app, options);
}

void add_timeout(CLI::App& app, device_options& options) {
    const auto allowed = [](const std::string& given) {
        double seconds = 0;
        const auto [stop, code] =
            std::from_chars(given.data(), given.data() + given.size(), seconds);
        const bool reads = code == std::errc() && stop == given.data() + given.size();
        if (reads && !(seconds > 0 && seconds <= longest_timeout))
            throw usage_error("--timeout is " + given +
                              ": allowed are more than 0 seconds, at most 1e9");
        return std::string(); // what is no number CLI11 refuses
    };
    app.add_option(
           "--timeout", options.timeout,
           "How long a device waits for another, and a process for another, before all give "
           "up (status 5) [20, and 600 for processes]")
        ->type_name("SECONDS")
        ->check(allowed, "")
        ->group("Devices");
}

void add_operator_options(CLI::App& app, operator_request& request) {
    app.add_option("--operator", request.kind, operator_help())
        ->type_name(operator_choices())
        ->capture_default_str()
        ->group("Operator");
    app.add_option("--format", request.format, format_help())
        ->type_name(alternatives(format_names()))
        ->capture_default_str()
        ->group("Operator");
    app.add_option("--reorder", request.order,
                   "Order of rows and columns on the devices: " + rows_in_words(orders::all))
        ->type_name(alternatives(order_names()))
        ->capture_default_str()
        ->group("Operator");
    app.add_option("--long-fraction", request.long_fraction,
                   owners(&operator_fractions::long_rows) +
                       ": rows in the block of long rows / rows; -1: by nonzeros a row")
        ->type_name("FRACTION")
        ->capture_default_str()
        ->group("Operator");
    app.add_option("--redundant-fraction", request.redundant_fraction,
                   owners(&operator_fractions::redundant) +
                       ": rows that every device computes / rows; -1: by nonzeros a row")
        ->type_name("FRACTION")
        ->capture_default_str()
        ->group("Operator");
    app.add_option("--precision", request.precision,
                   "Of matrix and vectors; inner products are summed in fp64")
        ->type_name(alternatives(precision_names))
        ->capture_default_str()
        ->group("Operator");
}

void add_transports(CLI::App& app, operator_request& request) {
    std::vector<name_alias> aliases;
    for (const transport_kind transport : transports::all)
        for (const std::string_view alias : transport->aliases)
            aliases.push_back({alias, transport->name});
    std::vector<std::string_view> names(transport_names().begin(), transport_names().end());
    const auto own = std::span(group_transport_names).subspan(1); // but auto
    names.insert(names.end(), own.begin(), own.end());
    app.get_option("--transport")
        ->description(
            fmt::format("How data crosses devices: results of {} by {}; staged copies all, even "
                        "where direct access works; posted: those of several processes as if each "
                        "were on a machine of its own",
                        listed<operator_method>(
                            operators::all,
                            [](operator_kind kind) { return kind->sends == sent_data::results; }),
                        rows_in_words(transports::all)))
        ->type_name(alternatives(names))
        ->transform([&request, names, aliases, own](const std::string& name) {
            check_name("transport", name, names, aliases);
            if (std::ranges::find(own, name) != own.end()) return name;
            request.transport = name;
            return std::string("auto");
        });
}

void add_rtol(CLI::App& app, std::optional<double>& rtol, bool fp64_only) {
    const std::string usual = fmt::format("{:.0e}", default_rtol<double>());
    const std::string both = fmt::format("fp64: {}, fp32: {:.0e}", usual, default_rtol<float>());
    app.add_option("--rtol", rtol,
                   fmt::format("Converged: ||b - A x|| <= max(R ||b||, ATOL) [{}]",
                               fp64_only ? usual : both))
        ->type_name("R");
}

std::string vector_output_help(const std::string& what) {
    return what + " in the format that its name says: " + written_endings(file_content::vector) +
           "; a Matrix Market array where it says none";
}

void add_report(CLI::App& app, std::string& report) {
    app.add_option("--report", report, "Everything as JSON; -: on standard output")
        ->type_name("FILE.json|-")
        ->group("Output");
}

} // namespace krylith::tool
