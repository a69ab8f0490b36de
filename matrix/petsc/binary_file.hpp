// Matrices and vectors in PETSc's binary files.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_format.hpp>

namespace krylith::petsc {

/// Reads the first matrix (MatView of a sparse matrix). O(bytes), by all OpenMP threads.
template <class T>
[[nodiscard]] csr_matrix<T> read_matrix(files::input_file& file, const load_options& options);

/// Reads the first vector, which may stand behind a matrix.
template <class T>
[[nodiscard]] std::vector<T> read_vector(files::input_file& file, const vector_options& options);

/// Write what a PETSc with integers of 32 bits and double precision reads. O(bytes).
template <class T>
void write_matrix(const std::filesystem::path& path, const csr_view<T>& matrix,
                  std::string_view comment);
template <class T>
void write_vector(const std::filesystem::path& path, const vector_pieces<T>& vector,
                  std::string_view comment);

} // namespace krylith::petsc
