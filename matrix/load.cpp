#include <krylith/matrix/load.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/files/output_target.hpp>
#if KRYLITH_HAVE_GALLERY
#include <krylith/matrix/gallery.hpp>
#endif

namespace krylith {
namespace {

constexpr std::string_view prefix = "gallery:";

#if KRYLITH_HAVE_GALLERY
/// Whether a name lacks the prefix only: "poisson3d:64" is an easy slip.
bool looks_like_gallery(std::string_view name) {
    const std::string_view first = name.substr(0, name.find(':'));
    return std::ranges::find(gallery_names(), first, &gallery_entry::name) != gallery_names().end();
}

template <class T>
csr_matrix<T> generate(std::string_view name) {
    return make_gallery<T>(name.substr(prefix.size()));
}
#else
bool looks_like_gallery(std::string_view) {
    return false;
}

template <class T>
csr_matrix<T> generate(std::string_view name) {
    throw usage_error(std::string(name) +
                      ": this krylith was built without its gallery (KRYLITH_GALLERY=OFF), allowed "
                      "are files");
}
#endif

/// Opens an input. Where it isn't there, says what could have been meant.
files::input_file open_input(std::string_view name, file_content content) {
    std::error_code ignored;
    // Where this can't be told, the reader reports what the system says.
    if (name == files::standard_input ||
        std::filesystem::status(std::filesystem::path(name), ignored).type() !=
            std::filesystem::file_type::not_found) {
        return files::input_file(name);
    }
    const std::string found = std::string(name) + ": no such file, ";
    if (content == file_content::matrix && looks_like_gallery(name)) {
        throw input_error(found + "did you mean " + std::string(prefix) + std::string(name) + "?");
    }
    throw input_error(found + "allowed is the path of a file (" + readable_formats(content) + ")" +
                      (content == file_content::matrix ? ", '-' or gallery:NAME" : " or '-'"));
}

[[noreturn]] void refuse_content(const files::input_file& file, const file_format& format,
                                 file_content content) {
    throw input_error(file.name() + ": is " + std::string(format.name) + ", which holds no " +
                      (content == file_content::matrix ? "matrices" : "vectors") +
                      ", allowed are " + readable_formats(content));
}

const file_format& format_of_vectors(const std::filesystem::path& path, std::int64_t columns) {
    const file_content content = columns == 1 ? file_content::vector : file_content::columns;
    if (const file_format* const format = format_to_write(path.string(), content)) {
        return *format;
    }
    if (lacks_ending(path) || is_stream(path)) {
        return file_format_rows::market;
    }
    const file_format* const of_one = format_to_write(path.string(), file_content::vector);
    throw usage_error("path is '" + path.string() + "': " +
                      (of_one == nullptr
                           ? std::string()
                           : std::string(of_one->name) + " holds one vector, and there are " +
                                 std::to_string(columns) + ": ") +
                      "its name must end in " + written_endings(content) +
                      ", which says the format; without an ending it is a Matrix Market array");
}

} // namespace

template <class T>
csr_matrix<T> load_matrix(std::string_view name, const load_options& options) {
    if (name.starts_with(prefix)) {
        return generate<T>(name);
    }
    files::input_file file = open_input(name, file_content::matrix);
    const file_format& format = recognise(file, file_content::matrix);
    const auto read = format.functions<T>().read_matrix;
    if (read == nullptr) {
        refuse_content(file, format, file_content::matrix);
    }
    return read(file, options);
}

template <class T>
std::vector<T> load_vector(std::string_view name, std::optional<std::int64_t> entries) {
    files::input_file file = open_input(name, file_content::vector);
    const file_format& format = recognise(file, file_content::vector);
    const auto read = format.functions<T>().read_vector;
    if (read == nullptr) {
        refuse_content(file, format, file_content::vector);
    }
    return read(file, {.entries = entries});
}

template <class T>
void save_matrix(const std::filesystem::path& path, const csr_view<T>& matrix,
                 std::string_view comment) {
    const file_format* format = format_to_write(path.string(), file_content::matrix);
    if (format == nullptr) {
        throw usage_error("path is '" + path.string() + "': its name must end in " +
                          written_endings(file_content::matrix) + ", which says the format");
    }
    validate(matrix);
    format->functions<T>().write_matrix(path, matrix, comment);
}

template <class T>
void save_vector(const std::filesystem::path& path, std::span<const T> vector,
                 std::string_view comment) {
    save_vector(path, vector_pieces<T>(vector), comment);
}

template <class T>
void save_vector(const std::filesystem::path& path, const vector_pieces<T>& vector,
                 std::string_view comment) {
    format_of_vectors(path, 1).functions<T>().write_vector(path, vector, comment);
}

template <class T>
dense_columns<T> load_columns(std::string_view name, std::optional<std::int64_t> entries) {
    files::input_file file = open_input(name, file_content::vector);
    const file_format& format = recognise(file, file_content::vector);
    const file_functions<T>& functions = format.functions<T>();
    if (functions.read_columns != nullptr) {
        return functions.read_columns(file, {.entries = entries});
    }
    if (functions.read_vector == nullptr) {
        refuse_content(file, format, file_content::vector);
    }
    dense_columns<T> one{0, 1, functions.read_vector(file, {.entries = entries})};
    one.rows = static_cast<std::int64_t>(one.values.size());
    return one;
}

void check_columns_path(const std::filesystem::path& path, std::int64_t columns) {
    static_cast<void>(format_of_vectors(path, columns));
}

template <class T>
void save_columns(const std::filesystem::path& path, const dense_columns<T>& columns,
                  std::string_view comment) {
    if (columns.columns == 1) {
        return save_vector<T>(path, columns.values, comment);
    }
    const file_format& format = format_of_vectors(path, columns.columns);
    format.functions<T>().write_columns(path, columns, comment);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void save_matrix(const std::filesystem::path&, const csr_view<T>&, std::string_view); \
    template void save_vector(const std::filesystem::path&, std::span<const T>, std::string_view); \
    template void save_vector(const std::filesystem::path&, const vector_pieces<T>&,               \
                              std::string_view);                                                   \
    template struct instances<load_matrix<T>, load_vector<T>, load_columns<T>, save_columns<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
