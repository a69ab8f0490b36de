#include <krylith/matrix/files/file_formats.hpp>

#include <algorithm>
#include <iterator>

#include <krylith/matrix/files/small_letters.hpp>

namespace krylith {
namespace {

bool reads(const file_format& format, file_content content) {
    const file_functions<double>& functions = format.functions<double>();
    switch (content) {
    case file_content::matrix: return functions.read_matrix != nullptr;
    case file_content::vector: return functions.read_vector != nullptr;
    case file_content::columns: return functions.read_columns != nullptr;
    }
    return false;
}

bool writes(const file_format& format, file_content content) {
    const file_functions<double>& functions = format.functions<double>();
    switch (content) {
    case file_content::matrix: return functions.write_matrix != nullptr;
    case file_content::vector: return functions.write_vector != nullptr;
    case file_content::columns: return functions.write_columns != nullptr;
    }
    return false;
}

/// The ends of names by which a format is written; the first is for help.
std::vector<std::string> endings_of(const file_format& format) {
    std::vector<std::string> endings;
    for (const std::string_view ending : format.endings.get()) {
        endings.emplace_back(ending);
        if (format.gzipped) {
            endings.push_back(std::string(ending) + ".gz");
        }
    }
    return endings;
}

} // namespace

const file_format& recognise(const files::input_file& file, file_content content) {
    for (const file_format* format : all_file_formats) {
        if (format->recognises.get()(file.beginning())) {
            return *format;
        }
    }
    for (const file_format* format : all_file_formats) {
        const bool named = std::ranges::any_of(format->endings.get(), [&](std::string_view ending) {
            return file.has_ending(ending);
        });
        // Without a banner, a vector is a list whatever its name.
        if (named && (content == file_content::matrix || format != &file_format_rows::market)) {
            return *format;
        }
    }
    return content == file_content::matrix ? file_format_rows::market
                                           : file_format_rows::number_list;
}

const file_format* format_to_write(std::string_view path, file_content content) {
    for (const file_format* format : all_file_formats) {
        if (writes(*format, content) && has_ending(path, endings_of(*format))) {
            return format;
        }
    }
    return nullptr;
}

std::vector<std::string> endings_to_write(file_content content) {
    std::vector<std::string> endings;
    for (const file_format* format : all_file_formats) {
        if (writes(*format, content)) {
            std::ranges::move(endings_of(*format), std::back_inserter(endings));
        }
    }
    return endings;
}

std::string written_endings(file_content content) {
    return enumerated(endings_to_write(content));
}

std::string enumerated(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t k = 0; k < words.size(); ++k) {
        text += k == 0 ? "" : k + 1 == words.size() ? " or " : ", ";
        text += words[k];
    }
    return text;
}

bool has_ending(std::string_view path, const std::vector<std::string>& endings) {
    const std::string name = files::small_letters(path);
    return std::ranges::any_of(endings,
                               [&](const std::string& ending) { return name.ends_with(ending); });
}

bool lacks_ending(const std::filesystem::path& path) {
    return path.extension().string().size() <= 1;
}

std::string readable_formats(file_content content) {
    std::vector<std::string> names;
    for (const file_format* format : all_file_formats) {
        if (reads(*format, content)) {
            names.emplace_back(format->name);
        }
    }
    return enumerated(names);
}

} // namespace krylith
