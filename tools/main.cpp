// The krylith command.
#include <cstdio>
#include <exception>

#include <krylith/tools/command_line.hpp>
#include <krylith/tools/exit_status.hpp>

int main(int argc, char** argv) {
    using namespace krylith::tool;
    try {
        return static_cast<int>(run_command_line(argc, argv));
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "krylith: %s\n", failure.what());
        return static_cast<int>(status_of(failure));
    }
}
