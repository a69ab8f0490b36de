// The formats of files: the table, and which of them a file has.
//
// Another format is a folder beside matrix/numpy/ with its row (matrix/files/file_format.hpp has
// the fields), and two lines here.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/files/file_format.hpp>

namespace krylith {

/// The rows, each in the folder of its format.
namespace file_format_rows {
extern const file_format market;
extern const file_format kcsr;
extern const file_format npz;
extern const file_format npy;
extern const file_format petsc;
extern const file_format rutherford_boeing;
extern const file_format number_list;
} // namespace file_format_rows

/// In the order in which an input is held against them: what any text could be comes last.
inline constexpr std::array all_file_formats = {
    &file_format_rows::market,     &file_format_rows::kcsr,  &file_format_rows::npz,
    &file_format_rows::npy,        &file_format_rows::petsc, &file_format_rows::rutherford_boeing,
    &file_format_rows::number_list};

/// Columns: several vectors of one length.
enum class file_content : std::uint8_t { matrix, vector, columns };

/// The format of an input: by its first bytes, else by its name; what nothing tells is taken for a
/// Matrix Market file, or for a list of numbers where a vector is due, and their readers say what
/// is wrong.
[[nodiscard]] const file_format& recognise(const files::input_file& file, file_content content);

/// The format that the name of an output asks for; null if it has no ending of a format that can
/// write such a thing.
[[nodiscard]] const file_format* format_to_write(std::string_view path, file_content content);

/// What format_to_write knows: ".mtx", ".mtx.gz", ".kcsr" ...
[[nodiscard]] std::vector<std::string> endings_to_write(file_content content);

/// ".mtx, .mtx.gz, .kcsr, .npz or .petsc": the same in words.
[[nodiscard]] std::string written_endings(file_content content);

/// "a, b or c".
[[nodiscard]] std::string enumerated(const std::vector<std::string>& words);

/// Whether a name ends with one of these, in any case of letters.
[[nodiscard]] bool has_ending(std::string_view path, const std::vector<std::string>& endings);

/// Whether nothing in a name says a format: "x", "/dev/stdout".
[[nodiscard]] bool lacks_ending(const std::filesystem::path& path);

/// "Matrix Market, SciPy's sparse matrix ... or a list of numbers": what can be read.
[[nodiscard]] std::string readable_formats(file_content content);

} // namespace krylith
