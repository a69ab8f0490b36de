// .kcsr files to matrices and back: the order of the steps.
#include <krylith/matrix/binary_csr.hpp>
#include <krylith/matrix/mapped_csr.hpp>

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/binary/checksum.hpp>
#include <krylith/matrix/binary/replacement_file.hpp>

namespace krylith {
namespace {

using namespace binary;

template <class T>
csr_view<T> view_of_type(const image& file, const std::string& name) {
    if (file.what.type != value_type_of<T>) {
        const bool wide = file.what.type == value_type::fp64;
        throw input_error(name + ": holds " + (wide ? "fp64" : "fp32") +
                          " values, allowed in place are " + (wide ? "fp32" : "fp64") +
                          "; read_binary_csr converts");
    }
    return file.view<T>();
}

void write_zeros(replacement_file& file, std::uint64_t begin, std::uint64_t end) {
    constexpr std::array<std::byte, alignment> zeros{};
    file.write(std::span(zeros).first(end - begin));
}

} // namespace

template <class T>
mapped_csr<T>::mapped_csr(const std::filesystem::path& path, file_check check)
    : file_(path),
      view_(view_of_type<T>(open_image(file_.bytes(), path.string(), check), path.string())) {}

template <class T>
csr_matrix<T> read_binary_csr(const std::filesystem::path& path) {
    const mapped_file file(path);
    const std::string name = path.string();
    return to_matrix<T>(open_image(file.bytes(), name, {}), name);
}

template <class T>
void write_binary_csr(const std::filesystem::path& path, const csr_view<T>& matrix) {
    validate(matrix);
    head h{{value_type_of<T>, matrix.rows, matrix.columns, matrix.nnz()}, 0};
    const file_layout at = layout_of(h.what);
    const std::array arrays{std::as_bytes(matrix.row_offsets),
                            std::as_bytes(matrix.column_indices), std::as_bytes(matrix.values)};
    const std::array sections{at.row_offsets, at.column_indices, at.values};

    std::vector<std::uint64_t> table(at.table.bytes / sizeof(std::uint64_t));
    std::span<std::uint64_t> rest = table;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const std::uint64_t chunks = sections[k].chunks();
        chunk_checksums(arrays[k], rest.first(chunks));
        rest = rest.subspan(chunks);
    }
    h.table_checksum = checksum(std::as_bytes(std::span(table)));
    std::array<std::byte, head_bytes> first_bytes{};
    encode(h, first_bytes);

    replacement_file file(path);
    file.write(first_bytes);
    file.write(std::as_bytes(std::span(table)));
    std::uint64_t written = at.table.end();
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        write_zeros(file, written, sections[k].begin);
        file.write(arrays[k]);
        written = sections[k].end();
    }
    file.commit();
}

bool is_binary_csr(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return false;
    }
    std::array<char, magic.size()> start{};
    std::ifstream file(path, std::ios::binary);
    return file.read(start.data(), start.size()) &&
           std::string_view(start.data(), start.size()) == magic;
}

template class mapped_csr<double>;
template class mapped_csr<float>;
template csr_matrix<double> read_binary_csr(const std::filesystem::path&);
template csr_matrix<float> read_binary_csr(const std::filesystem::path&);
template void write_binary_csr(const std::filesystem::path&, const csr_view<double>&);
template void write_binary_csr(const std::filesystem::path&, const csr_view<float>&);

} // namespace krylith
