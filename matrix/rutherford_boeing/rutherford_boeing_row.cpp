#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/rutherford_boeing/header.hpp>
#include <krylith/matrix/rutherford_boeing/read_file.hpp>

namespace krylith {

namespace {

template <class T>
constexpr file_functions<T> rutherford_boeing_functions = {.read_matrix =
                                                               rutherford_boeing::read_file<T>,
                                                           .read_vector = nullptr,
                                                           .write_matrix = nullptr,
                                                           .write_vector = nullptr};

} // namespace

constinit const file_format file_format_rows::rutherford_boeing = {
    .name = "Rutherford-Boeing",
    .endings = name_list{".rb", ".hb", ".rua", ".rsa"},
    .gzipped = false,
    .recognises = rutherford_boeing::has_header,
    .fp64 = rutherford_boeing_functions<double>,
    .fp32 = rutherford_boeing_functions<float>,
};

} // namespace krylith
