#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/numpy/array_file.hpp>
#include <krylith/matrix/numpy/array_header.hpp>
#include <krylith/matrix/numpy/sparse_archive.hpp>

namespace krylith {

namespace {

bool is_array(std::string_view beginning) {
    return beginning.starts_with(numpy::array_magic);
}

/// The second is an archive without members.
bool is_archive(std::string_view beginning) {
    return beginning.starts_with("PK\x03\x04") || beginning.starts_with("PK\x05\x06");
}

template <class T>
constexpr file_functions<T> array_functions = {.read_matrix = numpy::read_dense_array<T>,
                                               .read_vector = numpy::read_vector_array<T>,
                                               .write_matrix = nullptr,
                                               .write_vector = numpy::write_vector_array<T>,
                                               .read_columns = numpy::read_columns_array<T>,
                                               .write_columns = numpy::write_columns_array<T>};
template <class T>
constexpr file_functions<T> archive_functions = {.read_matrix = numpy::read_sparse_archive<T>,
                                                 .read_vector = numpy::read_vector_archive<T>,
                                                 .write_matrix = numpy::write_sparse_archive<T>,
                                                 .write_vector = nullptr,
                                                 .read_columns = numpy::read_columns_archive<T>};

} // namespace

constinit const file_format file_format_rows::npz = {
    .name = "SciPy's sparse matrix",
    .endings = name_list{".npz"},
    .gzipped = false,
    .recognises = is_archive,
    .fp64 = archive_functions<double>,
    .fp32 = archive_functions<float>,
};

constinit const file_format file_format_rows::npy = {
    .name = "NumPy's array",
    .endings = name_list{".npy"},
    .gzipped = false,
    .recognises = is_array,
    .fp64 = array_functions<double>,
    .fp32 = array_functions<float>,
};

} // namespace krylith
