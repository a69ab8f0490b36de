// Matrix Market files (.mtx, also gzipped): https://math.nist.gov/MatrixMarket/formats.html
//
// Read are coordinate and array, real, integer and pattern (values 1), general, symmetric and
// skew-symmetric; any case in the banner, LF or CR LF, blank lines and comments anywhere, entries
// in any order. Duplicates are summed. Explicit zeros of coordinate files are kept (the pattern is
// the user's), those of arrays are not entries. A symmetric matrix may be given by either half or a
// mixture, but no place by both. Fortran's exponents D and d are read; a magnitude too small for T
// becomes zero. A number behind the entry of a pattern file is ignored.
//
// Everything else throws input_error "FILE:LINE: what was found, what is allowed": malformed or
// missing lines, indices out of range, values that aren't finite in T, complex and hermitian files,
// NUL bytes, corrupt gzip data, and a matrix that the memory can't hold. Nothing is allocated on
// the word of the size line: at the most 2.5 times the resulting matrix, plus 16 MiB. More than
// 2^24 rows are believed only with an entry for 64 of them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// The matrix in a file, canonical. O(bytes), read by all OpenMP threads (gzip: unpacked by one).
template <class T>
[[nodiscard]] csr_matrix<T> read_matrix_market(const std::filesystem::path& path);

/// The same for text in memory, plain; `name` stands for the file in messages.
template <class T>
[[nodiscard]] csr_matrix<T> parse_matrix_market(std::string_view text, std::string name);

/// The dense vector in a file: an array or coordinates, general, of n rows and 1 column.
template <class T>
[[nodiscard]] std::vector<T> read_vector_market(const std::filesystem::path& path);

/// The same for text in memory.
template <class T>
[[nodiscard]] std::vector<T> parse_vector_market(std::string_view text, std::string name);

/// Writes a matrix as coordinate real general, with as many digits as reading back the same values
/// takes (17, float 9). Gzips if the name ends in .gz. Each line of the comment becomes a comment
/// line. Throws input_error for an invalid matrix, for a value that isn't finite (a reader would
/// refuse it) and for a file that can't be written; it may then be incomplete.
template <class T>
void write_matrix_market(const std::filesystem::path& path, const csr_view<T>& matrix,
                         std::string_view comment = {});

template <class T>
void write_matrix_market(const std::filesystem::path& path, const csr_matrix<T>& matrix,
                         std::string_view comment = {}) {
    write_matrix_market(path, csr_view<T>(matrix), comment);
}

/// Writes a vector as array real general, n rows, 1 column. As above, but non-finite values are
/// written too (nan, inf, -inf): a solution that went wrong is worth seeing.
template <class T>
void write_vector_market(const std::filesystem::path& path, std::span<const T> vector,
                         std::string_view comment = {});

extern template csr_matrix<double> read_matrix_market(const std::filesystem::path&);
extern template csr_matrix<float> read_matrix_market(const std::filesystem::path&);
extern template csr_matrix<double> parse_matrix_market(std::string_view, std::string);
extern template csr_matrix<float> parse_matrix_market(std::string_view, std::string);
extern template std::vector<double> read_vector_market(const std::filesystem::path&);
extern template std::vector<float> read_vector_market(const std::filesystem::path&);
extern template std::vector<double> parse_vector_market(std::string_view, std::string);
extern template std::vector<float> parse_vector_market(std::string_view, std::string);
extern template void write_matrix_market(const std::filesystem::path&, const csr_view<double>&,
                                         std::string_view);
extern template void write_matrix_market(const std::filesystem::path&, const csr_view<float>&,
                                         std::string_view);
extern template void write_vector_market(const std::filesystem::path&, std::span<const double>,
                                         std::string_view);
extern template void write_vector_market(const std::filesystem::path&, std::span<const float>,
                                         std::string_view);

} // namespace krylith
