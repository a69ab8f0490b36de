// Matrix Market files (.mtx, also gzipped): https://math.nist.gov/MatrixMarket/formats.html
//
// The readers accept coordinate and array; real, integer, unsigned-integer (SciPy) and pattern
// (values 1); general, symmetric and skew-symmetric; any case in the banner, blanks before it
// (MUMPS), LF or CR LF, with or without the last, blank lines
// anywhere, comments before the size line, entries in any order. Duplicates are summed in the order
// of the file, and counted. Explicit zeros of coordinate files are kept (the pattern is the
// user's), those of arrays are not entries. A symmetric matrix may be given by either half or a
// mixture, but no place by both; a skew-symmetric one has no diagonal but zeros. Fortran's
// exponents D and d are read. AmgX's comment %%AMGX or %%NVAMG is obeyed where it says that indices
// count from 0 (base0) or that vectors follow the entries (rhs, solution), which aren't read.
// Numbers are rounded to the nearest T, so that whole numbers are exact up to 2^53 (float: 2^24);
// file_report counts those beyond that T can't hold, and magnitudes that become zero. A number
// behind the entry of a pattern file, which some collections have, is ignored and counted.
//
// Everything else throws input_error "FILE:LINE: what was found, what is allowed": no banner on
// the first line, CR alone, comments among the entries, malformed or missing lines, entries where
// there is no place, indices out of range, values that aren't finite in T, complex and hermitian
// files, pattern arrays, NUL bytes, gzip data that are corrupt, cut off or a bomb (beyond 1 GiB of
// text: 200 times their size), a diagonal behind the entries (AmgX's option), and, without a line,
// whatever is no regular file. Nothing is allocated on the word of the size line: memory grows with
// what was read, at the most 2.5 times the resulting matrix plus some 2 MiB a thread, and is
// refused before the machine, or load_options::memory, runs out. Rows take memory even where they
// are empty: the most allowed are 2^24, 64 for each entry, or as many as an eighth of the memory
// holds.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/matrix/types/dense_columns.hpp>
#include <krylith/matrix/types/vector_pieces.hpp>

namespace krylith {

/// Reads the matrix in a file; it is canonical. O(bytes), plus a sort of rows that aren't in order;
/// read by up to 16 OpenMP threads (gzip: unpacked by one at a time).
template <class T>
[[nodiscard]] csr_matrix<T> read_matrix_market(const std::filesystem::path& path,
                                               const load_options& options = {});

/// Reads plain text in memory likewise; `name` stands for the file in messages.
template <class T>
[[nodiscard]] csr_matrix<T> parse_matrix_market(std::string_view text, std::string name,
                                                const load_options& options = {});

/// Reads the dense vector in a file: an array or coordinates, general, of n rows and 1 column (a
/// symmetric one of 1 row too). Two forms that are no Matrix Market files, but are common, are read
/// as the array of n rows: an array with n alone as its size line, and n alone as the first line of
/// a file without a banner; n numbers follow, one a line.
template <class T>
[[nodiscard]] std::vector<T> read_vector_market(const std::filesystem::path& path,
                                                const load_options& options = {});

/// Reads text in memory likewise.
template <class T>
[[nodiscard]] std::vector<T> parse_vector_market(std::string_view text, std::string name,
                                                 const load_options& options = {});

/// Writes a matrix as coordinate real general, with as many digits as reading back the same values
/// takes (17, float 9). The file is gzipped if the name ends in .gz. Each line of the comment
/// becomes a comment line. Throws input_error for an invalid matrix, for a value that isn't finite
/// (a reader would refuse it) and for a file that can't be written, which then stays as it was (a
/// pipe or device may have received some of it).
template <class T>
void write_matrix_market(const std::filesystem::path& path, const csr_view<T>& matrix,
                         std::string_view comment = {});

template <class T>
void write_matrix_market(const std::filesystem::path& path, const csr_matrix<T>& matrix,
                         std::string_view comment = {}) {
    write_matrix_market(path, csr_view<T>(matrix), comment);
}

/// Writes a vector as array real general, n rows, 1 column, in the same way, but non-finite values
/// too (nan, inf, -inf): a solution that went wrong is worth seeing.
template <class T>
void write_vector_market(const std::filesystem::path& path, std::span<const T> vector,
                         std::string_view comment = {});

/// Writes one likewise whose entries come in pieces.
template <class T>
void write_vector_market(const std::filesystem::path& path, const vector_pieces<T>& vector,
                         std::string_view comment = {});

/// Writes several vectors likewise, as the array of so many columns.
template <class T>
void write_columns_market(const std::filesystem::path& path, const dense_columns<T>& columns,
                          std::string_view comment = {});

} // namespace krylith
