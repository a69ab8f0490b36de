// The krylith command, and krylith-bench, which runs `krylith bench`.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <krylith/device/memory/memory_room.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace {

using namespace krylith::tool;

exit_status say(const std::exception& failure) {
    print(stderr, "krylith: " + one_line(failure.what()) + "\n");
    return status_of(failure);
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "bench") hand_over_to_benchmarks(argv);
    prepare_console();
    clean_up_when_interrupted();
    exit_status status = exit_status::success;
    try {
        status = run_command_line(argc, argv, benchmarks());
    } catch (const std::bad_alloc&) {
        const krylith::memory_room room = krylith::find_memory_room();
        print(stderr, "krylith: host memory ran out; with what was held given back, " +
                          std::to_string(room.bytes) + " bytes are free " + room.bound + "\n");
        status = exit_status::device_failure;
    } catch (const std::exception& failure) {
        status = say(failure);
    }
    try {
        finish_console();
    } catch (const std::exception& failure) {
        const exit_status unheard = say(failure);
        if (status == exit_status::success || status == exit_status::not_converged)
            status = unheard;
    }
    return static_cast<int>(status);
}
