// Reading and writing of .kcsr files: the order of the steps.
#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/kcsr/mapped_csr.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/readable_file.hpp>
#include <krylith/matrix/files/replacement_file.hpp>
#include <krylith/matrix/kcsr/row_file.hpp>
#include <krylith/matrix/kcsr/serialise.hpp>

namespace krylith {
namespace {

template <class T>
csr_view<T> view_of_type(const binary::image& file, const std::string& name) {
    if (file.what.type != binary::value_type_of<T>) {
        const bool wide = file.what.type == binary::value_type::fp64;
        throw input_error(name + ": holds " + (wide ? "fp64" : "fp32") +
                          " values, allowed in place are " + (wide ? "fp32" : "fp64") +
                          "; read_binary_csr converts");
    }
    return file.view<T>();
}

} // namespace

template <class T>
mapped_csr<T>::mapped_csr(const std::filesystem::path& path, binary::file_check check)
    : file_(path),
      view_(view_of_type<T>(binary::open_image(file_.bytes(), path.string(), check),
                            path.string())) {}

template <class T>
csr_matrix<T> read_binary_csr(const std::filesystem::path& path) {
    const binary::readable_file file(path);
    return binary::read_matrix<T>(
        {file.name(), file.bytes(),
         [&](std::uint64_t begin, std::span<std::byte> place) { file.read(begin, place); }});
}

template <class T>
void write_binary_csr(const std::filesystem::path& path, const csr_view<T>& matrix) {
    validate(matrix);
    binary::replacement_file file(path);
    binary::serialise<T>(matrix, [&](std::span<const std::byte> bytes) { file.write(bytes); });
    file.commit();
}

bool is_binary_csr(const std::filesystem::path& path) {
    std::array<char, binary::magic.size()> start{};
    try {
        binary::readable_file(path).read(0, std::as_writable_bytes(std::span(start)));
    } catch (const input_error&) { // the file can't be read, or is too short
        return false;
    }
    return std::string_view(start.data(), start.size()) == binary::magic;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class mapped_csr<T>;                                                                  \
    template csr_matrix<T> read_binary_csr(const std::filesystem::path&);                          \
    template void write_binary_csr(const std::filesystem::path&, const csr_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
