// Runs the built krylith command as a user does.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <sys/wait.h>

#include <krylith/tests/matrix/temporary_folder.hpp>

namespace krylith::test {

struct command_result {
    int status;
    std::string out;
    std::string err;
};

/// `arguments` as in a shell, run in `folder`.
inline command_result run_krylith(const temporary_folder& folder, const std::string& arguments) {
    const std::string line = "cd '" + folder.file("").string() + "' && '" KRYLITH_TOOL_PATH "' " +
                             arguments + " >stdout.txt 2>stderr.txt";
    const int status = std::system(line.c_str()); // NOLINT(concurrency-mt-unsafe)
    if (!WIFEXITED(status)) throw std::runtime_error("killed by a signal: " + line);
    return {WEXITSTATUS(status), contents_of(folder.file("stdout.txt")),
            contents_of(folder.file("stderr.txt"))};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace krylith::test
