#include <krylith/tools/output_file.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <krylith/device/error.hpp>

namespace krylith::tool {

void check_writable(const std::string& option, const std::string& path) {
    if (path.empty() || path == "-") return;
    const std::filesystem::path file(path);
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    std::error_code ignored;
    std::string problem;
    if (std::filesystem::is_directory(file, ignored))
        problem = "it is a folder";
    else if (std::filesystem::exists(file, ignored))
        problem = access(file.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
    else if (access(folder.c_str(), W_OK) != 0)
        problem = "folder " + folder.string() + ": " + std::strerror(errno);
    if (!problem.empty()) throw input_error(option + ": can't write " + path + ": " + problem);
}

void write_text(const std::string& path, std::string_view text) {
    if (path == "-") {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return;
    }
    std::ofstream file(path, std::ios::binary);
    file << text << std::flush;
    if (!file) throw input_error("can't write " + path + ": " + std::strerror(errno));
}

} // namespace krylith::tool
