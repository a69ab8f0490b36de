#include <krylith/tests/tools/support/command_run.hpp>

#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>

namespace krylith::test {

const char* command_path() {
    return KRYLITH_TOOL_PATH;
}

bool has_benchmarks() {
    return KRYLITH_TOOL_HAS_BENCH;
}

command_result run_krylith(const temporary_folder& folder, const std::string& arguments) {
    return run_shell(folder, std::string("'") + command_path() + "' " + arguments);
}

command_result run_shell(const temporary_folder& folder, const std::string& command) {
    const std::string line =
        "cd '" + folder.file("").string() + "' && " + command + " >stdout.txt 2>stderr.txt";
    const int status = std::system(line.c_str()); // NOLINT(concurrency-mt-unsafe)
    if (!WIFEXITED(status)) throw std::runtime_error("killed by a signal: " + line);
    return {WEXITSTATUS(status), contents_of(folder.file("stdout.txt")),
            contents_of(folder.file("stderr.txt"))};
}

} // namespace krylith::test
