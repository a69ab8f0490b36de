// Files that the command writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krylith::tool {

/// A file of the command line, by the option that names it. "": not given.
struct named_file {
    std::string option;
    std::string path;
    std::vector<std::string> endings = {}; ///< of the formats that an output can have; none: any
};

/// A file for a vector. Throws usage_error for "-": vectors are written to files and streams by
/// name.
[[nodiscard]] named_file vector_output(const std::string& option, const std::string& path);

/// Found out before the work, not after it: throws input_error if one of the outputs can't be
/// written, among them a pipe that nobody reads from; usage_error if one is the same file as an
/// input or another output, which would be lost, if its name promises another format than those
/// that are written, and if two inputs are "-": standard input can be read once. No file is
/// created. A pipe with a reader stays open to the end, so that its reader waits. "" and "-"
/// (standard output) pass.
void check_outputs(const std::vector<named_file>& outputs, const std::vector<named_file>& inputs);

/// "-" is standard output. A file is replaced whole. Throws input_error where writing fails, for
/// standard output at the end of the command.
void write_text(const std::string& path, std::string_view text);

} // namespace krylith::tool
