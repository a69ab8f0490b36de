#include <krylith/matrix/files/file_formats.hpp>

#include <algorithm>
#include <cctype>
#include <vector>

namespace krylith {
namespace {

bool reads(const file_format& format, file_content content) {
    const file_functions<double>& functions = format.functions<double>();
    return content == file_content::matrix ? functions.read_matrix != nullptr
                                           : functions.read_vector != nullptr;
}

bool writes(const file_format& format, file_content content) {
    const file_functions<double>& functions = format.functions<double>();
    return content == file_content::matrix ? functions.write_matrix != nullptr
                                           : functions.write_vector != nullptr;
}

std::string enumerated(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t k = 0; k < words.size(); ++k) {
        text += k == 0 ? "" : k + 1 == words.size() ? " or " : ", ";
        text += words[k];
    }
    return text;
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
    std::string name(path);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const file_format* format : all_file_formats) {
        for (const std::string_view ending : format->endings.get()) {
            if (writes(*format, content) &&
                (name.ends_with(ending) ||
                 (format->gzipped && name.ends_with(std::string(ending) + ".gz")))) {
                return format;
            }
        }
    }
    return nullptr;
}

std::string written_endings(file_content content) {
    std::vector<std::string> endings;
    for (const file_format* format : all_file_formats) {
        if (writes(*format, content)) {
            const std::string ending(*format->endings.get().begin());
            endings.push_back(ending);
            if (format->gzipped) {
                endings.push_back(ending + ".gz");
            }
        }
    }
    return enumerated(endings);
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
