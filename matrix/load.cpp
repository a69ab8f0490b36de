#include <krylith/matrix/load.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/matrix_market.hpp>

namespace krylith {
namespace {

constexpr std::string_view prefix = "gallery:";

/// Whether a name lacks the prefix only: "poisson3d:64" is an easy slip.
bool looks_like_gallery(std::string_view name) {
    const std::string_view first = name.substr(0, name.find(':'));
    return std::ranges::find(gallery_names(), first, &gallery_entry::name) != gallery_names().end();
}

} // namespace

template <class T>
csr_matrix<T> load_matrix(std::string_view name, const market_options& options) {
    if (name.starts_with(prefix)) {
        return make_gallery<T>(name.substr(prefix.size()));
    }
    const std::filesystem::path path(name);
    std::error_code ignored;
    // Where this can't be told, the reader reports what the system says.
    if (std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found) {
        const std::string found = std::string(name) + ": no such file, ";
        throw input_error(found +
                          (looks_like_gallery(name)
                               ? "did you mean " + std::string(prefix) + std::string(name) + "?"
                               : "allowed is the path of a Matrix Market or .kcsr file, "
                                 "or gallery:NAME"));
    }
    // The name counts too, so that a damaged file is called that, and not a bad Matrix Market file.
    if (path.extension() == ".kcsr" || is_binary_csr(path)) {
        return read_binary_csr<T>(path);
    }
    return read_matrix_market<T>(path, options);
}

template csr_matrix<double> load_matrix(std::string_view, const market_options&);
template csr_matrix<float> load_matrix(std::string_view, const market_options&);

} // namespace krylith
