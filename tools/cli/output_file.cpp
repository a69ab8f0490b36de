#include <krylith/tools/cli/output_file.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>

#include <sys/stat.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/files/output_target.hpp>
#include <krylith/tools/cli/console.hpp>

namespace krylith::tool {

namespace {

namespace fs = std::filesystem;

bool is_file(const named_file& f) {
    return !f.path.empty() && f.path != "-" && !is_stream(f.path);
}

void check_writable(const named_file& output) {
    if (output.path.empty() || output.path == "-") return;
    if (is_stream(output.path)) {
        struct stat status {};
        const int descriptor = open_stream(output.path); // throws
        // Closed, a pipe would seem to be at its end.
        if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) close(descriptor);
        return;
    }
    std::error_code ignored;
    fs::path file(output.path);
    if (fs::is_symlink(file, ignored)) file = fs::weakly_canonical(file, ignored);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
    std::string problem;
    if (fs::is_directory(file, ignored))
        problem = "it is a folder";
    else if (fs::exists(file, ignored) && access(file.c_str(), W_OK) != 0)
        problem = std::strerror(errno); // NOLINT(concurrency-mt-unsafe)
    else if (access(folder.c_str(), W_OK | X_OK) != 0)
        // NOLINTNEXTLINE(concurrency-mt-unsafe)
        problem = "folder " + folder.string() + ": " + std::strerror(errno);
    if (!problem.empty())
        throw input_error(output.option + ": can't write " + output.path + ": " + problem);
}

void check_ending(const named_file& output) {
    std::error_code ignored;
    if (!is_file(output) || output.endings.empty() || lacks_ending(output.path) ||
        has_ending(output.path, output.endings) || fs::is_directory(output.path, ignored))
        return;
    throw usage_error(output.option + " is '" + output.path + "': its name must end in " +
                      enumerated(output.endings) + ", which says the format");
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code ignored;
    if (fs::equivalent(a, b, ignored)) return true;
    std::error_code failed;
    // Of relative names that aren't there yet it would leave "./a" and "a" as they are.
    const fs::path whole = fs::weakly_canonical(fs::absolute(a), failed);
    return !failed && whole == fs::weakly_canonical(fs::absolute(b), failed) && !failed;
}

} // namespace

named_file vector_output(const std::string& option, const std::string& path) {
    if (path == "-")
        throw usage_error(option + " is '-': allowed is a file; standard output is /dev/stdout");
    return {option, path, endings_to_write(file_content::vector)};
}

void check_outputs(const std::vector<named_file>& outputs, const std::vector<named_file>& inputs) {
    const named_file* reads_standard_input = nullptr;
    for (const named_file& input : inputs) {
        if (input.path != "-") continue;
        if (reads_standard_input != nullptr)
            throw usage_error(input.option + " is -, standard input, and " +
                              reads_standard_input->option + " is it too: allowed is one of them");
        reads_standard_input = &input;
    }
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        if (!is_file(*output)) continue;
        for (const named_file& input : inputs)
            if (is_file(input) && same_file(output->path, input.path))
                throw usage_error(output->option + " " + output->path + " is " + input.option +
                                  " itself: allowed is another file");
        for (auto other = outputs.begin(); other != output; ++other)
            if (is_file(*other) && same_file(output->path, other->path))
                throw usage_error(output->option + " " + output->path + " is " + other->option +
                                  " too: allowed is another file");
    }
    for (const named_file& output : outputs) check_ending(output);
    for (const named_file& output : outputs) check_writable(output);
}

void write_text(const std::string& path, std::string_view text) {
    if (path == "-") {
        print_raw(stdout, text);
        return;
    }
    if (is_stream(path)) (void)std::fflush(stdout); // which may be the same, or its reader
    output_target file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

} // namespace krylith::tool
