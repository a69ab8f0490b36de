// The krylith command.
#include <cstdio>
#include <exception>
#include <new>

#include <krylith/device/memory_room.hpp>
#include <krylith/tools/command_line.hpp>
#include <krylith/tools/exit_status.hpp>

int main(int argc, char** argv) {
    using namespace krylith::tool;
    try {
        return static_cast<int>(run_command_line(argc, argv));
    } catch (const std::bad_alloc&) {
        const krylith::memory_room room = krylith::find_memory_room();
        std::fprintf(stderr,
                     "krylith: host memory ran out; with what was held given back, %llu bytes are "
                     "free %s\n",
                     static_cast<unsigned long long>(room.bytes), room.bound.c_str());
        return static_cast<int>(exit_status::device_failure);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "krylith: %s\n", failure.what());
        return static_cast<int>(status_of(failure));
    }
}
