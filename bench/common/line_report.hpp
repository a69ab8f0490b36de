// A run as JSON lines: a header, then an object a row, each written when it is known. For runs of
// thousands of rows, which report.hpp would write anew each time.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include <krylith/bench/common/report.hpp>

namespace krylith::bench {

class line_report {
public:
    /// No file where `path` is empty; "-" is standard output, while the table goes to standard
    /// error. Throws input_error where it can't be written. The header gets "benchmark" and
    /// "build".
    line_report(const std::string& benchmark, const std::string& path, json header);

    /// Text of the table.
    void say(std::string_view text) const;

    /// A row is void where it has a list `void_because` that is not empty.
    void add(const json& row);
    /// Why something was not measured.
    void skip(const std::string& what, const std::string& why);
    /// The same of what was asked for by name: the run has failed.
    void refuse(const std::string& what, const std::string& why);

    /// Once, at the end: says what void rows mean. False where a row is void. Throws input_error
    /// where something was refused.
    [[nodiscard]] bool finish() const;

private:
    void write(const json& line);

    std::string path_;
    std::ofstream file_;
    bool any_void_ = false;
    std::string refused_;
};

} // namespace krylith::bench
