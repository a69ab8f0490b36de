#include <krylith/bench/common/other_program.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

program_outcome run_program(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        line += tool::quoted(word) + " ";
    }
    line += "2>&1";
    std::FILE* const pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) {
        throw measurement_failed("can't run " + line);
    }
    program_outcome result;
    std::array<char, 4096> chunk{};
    while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
        result.text.append(chunk.data(), count);
    }
    result.status = pclose(pipe);
    return result;
}

std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

} // namespace krylith::bench
