#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/petsc/binary_file.hpp>
#include <krylith/matrix/petsc/binary_object.hpp>

namespace krylith {

namespace {

template <class T>
constexpr file_functions<T> petsc_functions = {.read_matrix = petsc::read_matrix<T>,
                                               .read_vector = petsc::read_vector<T>,
                                               .write_matrix = petsc::write_matrix<T>,
                                               .write_vector = petsc::write_vector<T>};

} // namespace

constinit const file_format file_format_rows::petsc = {
    .name = "PETSc binary",
    .endings = name_list{".petsc"},
    .gzipped = false,
    .recognises = petsc::is_binary_object,
    .fp64 = petsc_functions<double>,
    .fp32 = petsc_functions<float>,
};

} // namespace krylith
