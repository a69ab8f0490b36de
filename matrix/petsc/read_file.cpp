#include <utility>

#include <krylith/matrix/compressed/canonical_rows.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/petsc/binary_file.hpp>
#include <krylith/matrix/petsc/binary_object.hpp>

namespace krylith::petsc {

template <class T>
csr_matrix<T> read_matrix(files::input_file& file, const load_options& options) {
    const binary::byte_source bytes = file.bytes();
    binary_object object = find_object(bytes, object_kind::matrix, options.memory);
    const auto entries = static_cast<std::int64_t>(object.entries);
    files::check_memory(file.name(), files::csr_bytes(0, entries, sizeof(T)), options.memory);
    csr_matrix<T> matrix;
    matrix.rows = object.rows;
    matrix.columns = object.columns;
    matrix.row_offsets = std::move(object.row_offsets);
    files::read_numbers(bytes, object.column_indices(), matrix.column_indices, object.columns - 1);
    files::read_numbers(bytes, object.values(), matrix.values);
    files::validate_input(file.name(), csr_view<T>(matrix));
    const std::int64_t duplicates = make_canonical(matrix);
    if (options.report != nullptr) {
        *options.report = {};
        options.report->layout = "PETSc binary";
        options.report->field = object.value_bytes == 8 ? "double" : "single";
        options.report->symmetry = "general";
        options.report->entries = entries;
        options.report->duplicates = duplicates;
    }
    return matrix;
}

template <class T>
std::vector<T> read_vector(files::input_file& file, const vector_options&) {
    const binary::byte_source bytes = file.bytes();
    const binary_object object = find_object(bytes, object_kind::vector, 0);
    files::check_memory(file.name(), static_cast<double>(object.entries) * sizeof(T));
    std::vector<T> vector;
    files::read_numbers(bytes, object.values(), vector);
    return vector;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> read_matrix(files::input_file&, const load_options&);                   \
    template std::vector<T> read_vector(files::input_file&, const vector_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::petsc
