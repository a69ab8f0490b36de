// How much memory the host can still give this process, and what bounds it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace krylith {

struct memory_room {
    std::uint64_t bytes = 0;
    /// What sets the limit: "of the machine's memory", "of RLIMIT_AS (ulimit -v), 400000000 bytes",
    /// "of the control group /jobs/7, 1000000000 bytes".
    std::string bound;
};

/// Returns the least of the kernel's MemAvailable, what RLIMIT_AS and RLIMIT_DATA leave, and what
/// the memory limits of the control groups of this process, version 1 and 2, at all levels, leave.
/// Pages of files that nobody has used lately are given back, and count as left. It is an estimate:
/// others allocate too. Linux overcommits, so that asking first is the only way to be told no
/// instead of killed. `proc` and `cgroups` say where these file systems are, for tests.
[[nodiscard]] memory_room find_memory_room(const std::filesystem::path& proc = "/proc",
                                           const std::filesystem::path& cgroups = "/sys/fs/cgroup");

/// The text "27760000 bytes wanted, 9000000 free of RLIMIT_AS (ulimit -v), 400000000 bytes".
[[nodiscard]] std::string shortage(std::uint64_t wanted, const memory_room& room);

} // namespace krylith
