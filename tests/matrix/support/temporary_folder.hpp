// A folder of its own for a test that writes files; removed at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <doctest/doctest.h>

#include <sys/stat.h>

namespace krylith::test {

class temporary_folder {
public:
    temporary_folder() {
        std::string name = std::filesystem::temp_directory_path() / "krylith_test_XXXXXX";
        if (mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("can't make a folder like " + name);
        }
        path_ = name;
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    [[nodiscard]] std::filesystem::path file(std::string_view name) const { return path_ / name; }
    /// The number of its files, and of folders in it.
    [[nodiscard]] auto files() const {
        return std::distance(std::filesystem::directory_iterator(path_), {});
    }

    /// Writes a file of this folder, and returns its path.
    std::filesystem::path write(std::string_view name, std::string_view contents) const {
        const std::filesystem::path path = file(name);
        std::ofstream(path, std::ios::binary) << contents;
        return path;
    }

private:
    std::filesystem::path path_;
};

inline std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Who may do what with a file.
inline mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    return status.st_mode & 0777U;
}

} // namespace krylith::test
