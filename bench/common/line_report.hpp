// A run as JSON lines: a header, then an object a row, each written when it is known. For runs of
// thousands of rows, which report.hpp would write anew each time.
#pragma once

#include <fstream>
#include <string>

#include <krylith/bench/common/report.hpp>

namespace krylith::bench {

class line_report {
public:
    /// No file where `path` is empty. Throws usage_error where it can't be written. The header gets
    /// "program" and "build".
    line_report(const std::string& program, const std::string& path, json header);

    /// A row is void where it has a list `void_because` that is not empty.
    void add(const json& row);
    /// Why something was not measured.
    void skip(const std::string& what, const std::string& why);
    /// The same of what was asked for by name: the run has failed.
    void refuse(const std::string& what, const std::string& why);

    [[nodiscard]] bool any_void() const { return any_void_; }
    [[nodiscard]] bool failed() const { return any_void_ || any_refused_; }

private:
    void write(const json& line);

    std::string path_;
    std::ofstream file_;
    bool any_void_ = false;
    bool any_refused_ = false;
};

} // namespace krylith::bench
