// Runs a fuzz target without libFuzzer: on every file of a corpus, and on the beginnings of it.
//
//   replay_NAME FOLDER|FILE...
//
// A violated oracle aborts, and the input's name is the last line printed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) {
        return {path};
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

/// Runs a copy, so that reading beyond its end is a read out of bounds.
void run(const std::string& bytes, std::size_t length) {
    const std::vector<std::uint8_t> input(bytes.begin(),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(length));
    LLVMFuzzerTestOneInput(input.data(), input.size());
}

/// Runs the whole, and files cut off: each beginning of a short one, 256 of a long one.
std::size_t run_with_beginnings(const std::string& bytes) {
    const std::size_t step = bytes.size() / 256 + 1;
    std::size_t runs = 1;
    for (std::size_t length = 0; length < bytes.size(); length += step) {
        run(bytes, length);
        ++runs;
    }
    run(bytes, bytes.size());
    return runs;
}

} // namespace

int main(int count, char** arguments) {
    std::size_t inputs = 0;
    std::size_t runs = 0;
    for (int k = 1; k < count; ++k) {
        for (const auto& path : files_of(arguments[k])) {
            std::ifstream file(path, std::ios::binary);
            if (!file) {
                std::fprintf(stderr, "%s: can't be opened\n", path.c_str());
                return 1;
            }
            std::printf("%s\n", path.filename().c_str());
            std::fflush(stdout); // what follows may abort
            runs += run_with_beginnings({std::istreambuf_iterator<char>(file), {}});
            ++inputs;
        }
    }
    std::printf("%zu inputs, %zu runs with their beginnings\n", inputs, runs);
    if (inputs == 0) {
        std::fprintf(stderr, "no input; usage: %s FOLDER|FILE...\n", arguments[0]);
        return 1;
    }
    return 0;
}
