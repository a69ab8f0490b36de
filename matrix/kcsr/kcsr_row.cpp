#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/kcsr/head.hpp>
#include <krylith/matrix/kcsr/row_file.hpp>

namespace krylith {

namespace {

bool is_kcsr(std::string_view beginning) {
    return beginning.starts_with(binary::magic);
}

template <class T>
csr_matrix<T> read_kcsr(files::input_file& file, const load_options&) {
    return binary::read_matrix<T>(file.bytes());
}

template <class T>
void write_kcsr(const std::filesystem::path& path, const csr_view<T>& matrix, std::string_view) {
    write_binary_csr(path, matrix);
}

template <class T>
constexpr file_functions<T> kcsr_functions = {.read_matrix = read_kcsr<T>,
                                              .read_vector = nullptr,
                                              .write_matrix = write_kcsr<T>,
                                              .write_vector = nullptr};

} // namespace

constinit const file_format file_format_rows::kcsr = {
    .name = "krylith's binary CSR",
    .endings = name_list{".kcsr"},
    .gzipped = false,
    .recognises = is_kcsr,
    .fp64 = kcsr_functions<double>,
    .fp32 = kcsr_functions<float>,
};

} // namespace krylith
