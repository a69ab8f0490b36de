#include <krylith/device/memory/memory_room.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace krylith {

namespace {

namespace fs = std::filesystem;

/// The text of a file of the kernel; empty where it is not there.
std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The number that a text begins with after spaces; nothing for "max".
std::optional<std::uint64_t> number(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end == text.data()) return std::nullopt;
    return value;
}

/// The number in the line that begins with `key`.
std::optional<std::uint64_t> field(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (text.starts_with(key)) return number(text.substr(key.size(), end - key.size()));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::nullopt;
}

std::uint64_t left(std::uint64_t limit, std::uint64_t used) {
    return limit > used ? limit - used : 0;
}

class search {
public:
    void bound(std::uint64_t bytes, const std::string& what, std::uint64_t limit) {
        if (bytes >= room.bytes) return;
        room = {bytes, "of " + what + ", " + std::to_string(limit) + " bytes"};
    }

    void process_limits(const fs::path& proc) {
        const std::string status = text_of(proc / "self/status");
        const auto limited = [&](auto resource, const char* name, std::string_view used) {
            rlimit limit{};
            if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
            constexpr std::uint64_t kibi = 1024;
            bound(left(limit.rlim_cur, kibi * field(status, used).value_or(0)), name,
                  limit.rlim_cur);
        };
        limited(RLIMIT_AS, "RLIMIT_AS (ulimit -v)", "VmSize:");
        limited(RLIMIT_DATA, "RLIMIT_DATA (ulimit -d)", "VmData:");
    }

    /// The file names of version 1 or 2.
    struct names {
        const char* limit;
        const char* usage;
        const char* reclaimable;
    };

    /// Looks at all levels, from the group up to the root. In a container a level may be absent:
    /// what is mounted as root is then the container's own.
    void control_group(const fs::path& root, const std::string& group, const names& n) {
        for (fs::path level = fs::path(group).relative_path();; level = level.parent_path()) {
            const fs::path folder = root / level;
            const auto limit = number(text_of(folder / n.limit));
            const auto usage = number(text_of(folder / n.usage));
            if (limit && usage) {
                const auto idle = field(text_of(folder / "memory.stat"), n.reclaimable).value_or(0);
                bound(left(*limit, left(*usage, idle)),
                      "the memory of control group /" + level.string(), *limit);
            }
            if (level.empty()) return;
        }
    }

    void control_groups(const fs::path& proc, const fs::path& cgroups) {
        const std::string all = text_of(proc / "self/cgroup");
        for (std::string_view rest = all; !rest.empty();) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            const std::string_view line = rest.substr(0, end); // "4:memory:/jobs/7", "0::/jobs/7"
            rest.remove_prefix(std::min(end + 1, rest.size()));
            const std::size_t first = line.find(':');
            if (first == std::string_view::npos) continue;
            const std::size_t second = line.find(':', first + 1);
            if (second == std::string_view::npos) continue;
            const std::string kinds = ',' + std::string(line.substr(first + 1, second - first - 1));
            const std::string group(line.substr(second + 1));
            if (kinds == ",")
                control_group(cgroups, group, {"memory.max", "memory.current", "inactive_file "});
            else if ((kinds + ',').find(",memory,") != std::string::npos)
                control_group(
                    cgroups / "memory", group,
                    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "});
        }
    }

    memory_room room{std::numeric_limits<std::uint64_t>::max(), "of what the system says"};
};

std::uint64_t machine_memory(const fs::path& proc) {
    constexpr std::uint64_t kibi = 1024;
    if (const auto available = field(text_of(proc / "meminfo"), "MemAvailable:"))
        return *available * kibi;
    const long pages = sysconf(_SC_AVPHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages < 0 || page < 0) return std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

} // namespace

memory_room find_memory_room(const fs::path& proc, const fs::path& cgroups) {
    search s;
    s.room = {machine_memory(proc), "of the machine's memory"};
    s.process_limits(proc);
    s.control_groups(proc, cgroups);
    return s.room;
}

std::string shortage(std::uint64_t wanted, const memory_room& room) {
    return std::to_string(wanted) + " bytes wanted, " + std::to_string(room.bytes) + " free " +
           room.bound;
}

} // namespace krylith
