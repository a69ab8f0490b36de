// Sparse matrices as SciPy's save_npz writes them, and vectors in .npz archives.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_format.hpp>

namespace krylith::numpy {

/// Reads what scipy.sparse.save_npz wrote of a matrix in CSR, CSC or COO, real numbers of any
/// width. Entries of the same place are summed. O(bytes); members that are stored are read by all
/// OpenMP threads, deflated ones by one thread each.
template <class T>
[[nodiscard]] csr_matrix<T> read_sparse_archive(files::input_file& file,
                                                const load_options& options);

/// Reads the vector in an archive of one array (numpy.savez).
template <class T>
[[nodiscard]] std::vector<T> read_vector_archive(files::input_file& file,
                                                 const vector_options& options);

/// Reads the vectors in such an archive.
template <class T>
[[nodiscard]] dense_columns<T> read_columns_archive(files::input_file& file,
                                                    const vector_options& options);

/// Writes what scipy.sparse.load_npz reads as a csr_matrix, stored, not deflated. O(bytes).
template <class T>
void write_sparse_archive(const std::filesystem::path& path, const csr_view<T>& matrix,
                          std::string_view comment);

} // namespace krylith::numpy
