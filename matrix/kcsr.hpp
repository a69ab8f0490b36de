// Binary CSR files (.kcsr): krylith's own format, to load a matrix at the speed of memory.
// docs/file_formats.md has the table of bytes. A file holds the same arrays as memory, so that it
// can also be used in place (matrix/kcsr/mapped_csr.hpp); nothing is lost, a NaN or -0 neither.
//
// Everything malformed throws input_error "FILE: what was found, what is allowed": files cut off or
// appended to, bytes changed anywhere (all of them are under a checksum), a version of the future,
// the other byte order, sizes that overflow or disagree, offsets that descend, columns out of
// range, directories, pipes and devices.
#pragma once

#include <filesystem>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/kcsr/mapped_csr.hpp>

namespace krylith {

/// Reads the matrix in a file of fp64 or fp32 values, the latter widened for T = double. For T =
/// float fp64 is rounded to nearest; a finite value beyond the range of fp32 is refused. O(bytes),
/// by all OpenMP threads. Throws input_error, also where the memory can't hold the matrix.
template <class T>
[[nodiscard]] csr_matrix<T> read_binary_csr(const std::filesystem::path& path);

/// Writes a matrix; the values have the precision of T. The file is written under a temporary name
/// beside `path`, which then replaces it at once: where writing fails, what was there stays, and
/// nothing else does. Throws input_error for an invalid matrix and for a file that can't be
/// written, among them anything that exists and is not a regular file. O(bytes).
template <class T>
void write_binary_csr(const std::filesystem::path& path, const csr_view<T>& matrix);

template <class T>
void write_binary_csr(const std::filesystem::path& path, const csr_matrix<T>& matrix) {
    write_binary_csr(path, csr_view<T>(matrix));
}

/// Returns true for a regular file that starts like a .kcsr file, whatever its name and the rest.
[[nodiscard]] bool is_binary_csr(const std::filesystem::path& path);

} // namespace krylith
