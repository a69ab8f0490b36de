// A cache folder of a test's own, so that no other test finds what it tunes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace krylith::testing {

/// Sets KRYLITH_CACHE to a folder of its own while it lives.
class cache_folder {
public:
    cache_folder() {
        if (const char* value = std::getenv("KRYLITH_CACHE")) before_ = value; // NOLINT
        path = std::filesystem::temp_directory_path() /
               ("krylith-tuning-test-" + std::to_string(getpid()));
        std::filesystem::remove_all(path);
        setenv("KRYLITH_CACHE", path.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    ~cache_folder() {
        setenv("KRYLITH_CACHE", before_.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    cache_folder(const cache_folder&) = delete;
    cache_folder& operator=(const cache_folder&) = delete;

    std::filesystem::path path;

private:
    std::string before_;
};

} // namespace krylith::testing
