// Rows of the report as a table in a file.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>

namespace krylith::bench {

/// A file of comma-separated values, a line a row, written as it is added. Text with a comma, a
/// quote or an end of line is quoted, as RFC 4180 says.
class csv_file {
public:
    /// Columns are keys of rows, "key/key" for those of an object inside. There is no file where
    /// `path` is empty. Throws usage_error where it can't be written.
    csv_file(std::string path, std::vector<std::string> columns);

    /// Adds a row. What it doesn't have is left empty; a list is joined by "; ".
    void add(const json& row) const;

private:
    void write(const std::string& line, bool anew) const;

    std::string path_;
    std::vector<std::string> columns_;
};

} // namespace krylith::bench
