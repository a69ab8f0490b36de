// The memory that the host can give: the least of all limits, from files like the kernel's.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <krylith/device/memory/memory_room.hpp>

#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace krylith {

namespace {

/// A machine with 1 GB available, and other files as they are written.
struct machine {
    machine() { write("proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable: 1000000 kB\n"); }
    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(folder.file(path).parent_path());
        folder.write(path, text);
    }
    [[nodiscard]] memory_room room() const {
        return find_memory_room(folder.file("proc"), folder.file("cgroups"));
    }
    test::temporary_folder folder;
};

} // namespace

TEST_CASE("memory room: the machine's, where nothing else limits it") {
    const machine m;
    CHECK(m.room().bytes == 1'024'000'000U);
    CHECK(m.room().bound == "of the machine's memory");
    m.write("proc/self/cgroup", "0::/jobs/7\n");
    CHECK(m.room().bytes == 1'024'000'000U); // a group without files
    m.write("cgroups/jobs/7/memory.max", "max\n");
    m.write("cgroups/jobs/7/memory.current", "500\n");
    CHECK(m.room().bound == "of the machine's memory");
}

TEST_CASE("memory room: control groups of version 2, at all levels, less what they use") {
    const machine m;
    m.write("proc/self/cgroup", "0::/jobs/7\n");
    m.write("cgroups/jobs/7/memory.max", "3000\n");
    m.write("cgroups/jobs/7/memory.current", "500\n");
    CHECK(m.room().bytes == 2500U);
    CHECK(m.room().bound == "of the memory of control group /jobs/7, 3000 bytes");
    m.write("cgroups/jobs/memory.max", "10000\n");
    m.write("cgroups/jobs/memory.current", "9000\n");
    CHECK(m.room().bytes == 1000U);
    CHECK(m.room().bound == "of the memory of control group /jobs, 10000 bytes");
    m.write("cgroups/jobs/memory.stat", "anon 8200\ninactive_file 800\n"); // inactive: given back
    CHECK(m.room().bytes == 1800U);
    CHECK(shortage(5000, m.room()) ==
          "5000 bytes wanted, 1800 free of the memory of control group /jobs, 10000 bytes");
}

TEST_CASE("memory room: control groups of version 1, also where only the root is mounted") {
    const machine m;
    m.write("proc/self/cgroup", "9:name=systemd:/x\n4:memory:/docker/a\n0::/\n");
    m.write("cgroups/memory/memory.limit_in_bytes", "3000\n");
    m.write("cgroups/memory/memory.usage_in_bytes", "2900\n");
    m.write("cgroups/memory/memory.stat", "total_inactive_file 50\n");
    CHECK(m.room().bytes == 150U);
    m.write("cgroups/memory/memory.usage_in_bytes", "4000\n");
    CHECK(m.room().bytes == 0U);
}

} // namespace krylith
