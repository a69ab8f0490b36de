// A run as JSON lines: a header, then an object a row, each written when it is known. It is for
// runs of thousands of rows, which report.hpp would write anew each time.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include <krylith/bench/common/report.hpp>

namespace krylith::bench {

class line_report {
public:
    /// There is no file where `path` is empty; "-" is standard output, while the table goes to
    /// standard error. Throws input_error where the file can't be written. The header gets
    /// "benchmark" and "build".
    line_report(const std::string& benchmark, const std::string& path, json header);

    /// Prints text of the table.
    void say(std::string_view text) const;

    /// Adds a row, which is void where it has a list `void_because` that is not empty.
    void add(const json& row);
    /// Reports why something was not measured.
    void skip(const std::string& what, const std::string& why);
    /// Reports the same of what was asked for by name, so that the run has failed.
    void refuse(const std::string& what, const std::string& why);

    /// Ends the report: says what void rows mean. Returns false where a row is void. Throws
    /// input_error where something was refused. To be called once.
    [[nodiscard]] bool finish() const;

private:
    void write(const json& line);

    std::string path_;
    std::ofstream file_;
    bool any_void_ = false;
    std::string refused_;
};

} // namespace krylith::bench
