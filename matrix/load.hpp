// Matrices and vectors by the names that a user gives on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/matrix/types/dense_columns.hpp>
#include <krylith/matrix/types/vector_pieces.hpp>

namespace krylith {

/// Loads "gallery:NAME[:ARGUMENT...]" (matrix/gallery.hpp), the path of a file, or "-", standard
/// input. A file may be in any format of docs/file_formats.md, gzipped or not; it is known by its
/// first bytes, else by its name. Throws usage_error for a wrong gallery name or argument,
/// input_error for a file that can't be accepted: it names the place, the value found and what is
/// allowed. What the file held beside the matrix goes to `options.report`. O(bytes), by all OpenMP
/// threads.
template <class T>
[[nodiscard]] csr_matrix<T> load_matrix(std::string_view name, const load_options& options = {});

/// Loads a vector from the path of a file or "-" likewise. `entries` is the length that the caller
/// needs, where he knows it: it tells a list whose first number is its length from one without.
/// Throws input_error for a file that can't be accepted; a vector of another length is none.
template <class T>
[[nodiscard]] std::vector<T> load_vector(std::string_view name,
                                         std::optional<std::int64_t> entries = std::nullopt);

/// Loads one or several vectors likewise: the columns of an array in a Matrix Market file or of
/// NumPy's of shape (n, k), or the vector in a file that load_vector() accepts.
template <class T>
[[nodiscard]] dense_columns<T> load_columns(std::string_view name,
                                            std::optional<std::int64_t> entries = std::nullopt);

/// Writes a matrix in the format that the end of the path says: .mtx, .mtx.gz, .kcsr, .npz or
/// .petsc. The comment goes where the format has room for one. A file is replaced whole (docs/
/// file_formats.md). Throws usage_error for another ending, input_error for an invalid matrix, for
/// one that the format can't hold, and for a file that can't be written.
template <class T>
void save_matrix(const std::filesystem::path& path, const csr_view<T>& matrix,
                 std::string_view comment = {});

template <class T>
void save_matrix(const std::filesystem::path& path, const csr_matrix<T>& matrix,
                 std::string_view comment = {}) {
    save_matrix(path, csr_view<T>(matrix), comment);
}

/// Writes a vector likewise: .mtx, .mtx.gz, .npy, .petsc, .txt or .txt.gz. A name without an
/// ending, and a stream, get a Matrix Market array.
template <class T>
void save_vector(const std::filesystem::path& path, std::span<const T> vector,
                 std::string_view comment = {});

/// Writes one likewise whose entries come in pieces.
template <class T>
void save_vector(const std::filesystem::path& path, const vector_pieces<T>& vector,
                 std::string_view comment = {});

/// Writes one or several vectors likewise. Throws usage_error for several where the format holds
/// one: they go to .mtx, .mtx.gz or .npy, to the latter as an array of shape (n, k).
template <class T>
void save_columns(const std::filesystem::path& path, const dense_columns<T>& columns,
                  std::string_view comment = {});

/// Throws usage_error where save_columns() would for so many columns, before they are there.
void check_columns_path(const std::filesystem::path& path, std::int64_t columns);

} // namespace krylith
