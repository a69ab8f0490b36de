// Arrays in files, for another program that a benchmark runs.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <krylith/bench/common/measurement_failed.hpp>

namespace krylith::bench {

/// A folder that goes with the object.
class array_folder {
public:
    /// Makes it below `in`; `name` tells those of several benchmarks apart.
    array_folder(const std::filesystem::path& in, const std::string& name)
        : path_(in / fmt::format("krylith_bench_{}_{}", name, getpid())) {
        std::filesystem::create_directory(path_);
    }
    array_folder(const array_folder&) = delete;
    array_folder& operator=(const array_folder&) = delete;
    ~array_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::string path() const { return path_.string(); }

    /// Writes the values as they lie in memory. Throws measurement_failed where that fails.
    template <class V>
    void write(const char* name, const std::vector<V>& values) const {
        std::ofstream file(path_ / name, std::ios::binary);
        file.write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(values.size() * sizeof(V)));
        file.close();
        if (!file) throw measurement_failed("can't write " + (path_ / name).string());
    }

private:
    std::filesystem::path path_;
};

} // namespace krylith::bench
