#include <krylith/bench/common/csv_file.hpp>

#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

std::string csv_quoted(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
        return text;
    }
    std::string result = "\"";
    for (const char c : text) {
        result += c;
        if (c == '"') {
            result += c;
        }
    }
    return result + '"';
}

std::string text_of(const json& value) {
    if (value.is_null()) {
        return "";
    }
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_array()) {
        std::vector<std::string> parts;
        for (const json& part : value) {
            parts.push_back(text_of(part));
        }
        return fmt::format("{}", fmt::join(parts, "; "));
    }
    return value.is_number_float() ? fmt::format("{:.6g}", value.get<double>()) : value.dump();
}

} // namespace

csv_file::csv_file(std::string path, std::vector<std::string> columns)
    : path_(std::move(path)), columns_(std::move(columns)) {
    write(fmt::format("{}\n", fmt::join(columns_, ",")), true);
}

void csv_file::add(const json& row) const {
    std::vector<std::string> cells;
    for (const std::string& column : columns_) {
        const json::json_pointer place("/" + column);
        cells.push_back(row.contains(place) ? csv_quoted(text_of(row.at(place))) : std::string());
    }
    write(fmt::format("{}\n", fmt::join(cells, ",")), false);
}

void csv_file::write(const std::string& line, bool anew) const {
    if (path_.empty()) {
        return;
    }
    std::ofstream file(path_, anew ? std::ios::trunc : std::ios::app);
    file << line;
    file.close();
    if (!file) {
        throw input_error("--csv " + path_ + " can't be written");
    }
}

} // namespace krylith::bench
