#include <krylith/device/numa.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include <sys/syscall.h>
#include <unistd.h>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

/// Reads a set as the system writes it, "0-3,8,10-11"; empty where it isn't one.
std::vector<int> read_list(const std::filesystem::path& file) {
    constexpr int most = 1 << 16; // a broken file must not fill the memory
    std::string text;
    std::ifstream in(file);
    std::getline(in, text);
    std::istringstream ranges(text);
    std::vector<int> result;
    for (std::string range; std::getline(ranges, range, ',');) {
        const char* const end = range.data() + range.size();
        int first = 0;
        auto read = std::from_chars(range.data(), end, first);
        int last = first;
        if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
            read = std::from_chars(read.ptr + 1, end, last);
        if (read.ec != std::errc() || read.ptr != end || first < 0 || last >= most) return {};
        for (int i = first; i <= last; ++i) result.push_back(i);
    }
    return result;
}

std::filesystem::path folder_of(const std::filesystem::path& system, int id) {
    return system / "devices/system/node" / ("node" + to_string(id));
}

/// The place of the node with this id; the first where there is none.
int place_of(const std::vector<numa_node>& nodes, int id) {
    const auto found = std::ranges::find(nodes, id, &numa_node::id);
    return found == nodes.end() ? 0 : static_cast<int>(found - nodes.begin());
}

} // namespace

numa_topology one_numa_node(int devices) {
    if (devices < 1)
        throw usage_error("one_numa_node: devices is " + to_string(devices) +
                          ", must be 1 or more");
    return {{numa_node{}}, std::vector<int>(static_cast<std::size_t>(devices), 0)};
}

numa_topology read_numa_topology(const std::filesystem::path& system,
                                 std::span<const std::string> pci_bus_ids) {
    numa_topology result;
    for (const int id : read_list(system / "devices/system/node/online"))
        if (auto cpus = read_list(folder_of(system, id) / "cpulist"); !cpus.empty())
            result.nodes.push_back({id, std::move(cpus)});
    if (result.nodes.empty()) result.nodes.emplace_back();
    for (const std::string& bus_id : pci_bus_ids) {
        int id = -1; // what the system says where it doesn't know
        if (!bus_id.empty()) std::ifstream(system / "bus/pci/devices" / bus_id / "numa_node") >> id;
        result.node_of_device.push_back(place_of(result.nodes, id));
    }
    return result;
}

numa_topology find_numa_topology(const device_group& group) {
    // The system may lack the calls, or forbid them, as containers do.
    if (syscall(SYS_get_mempolicy, nullptr, nullptr, 0UL, nullptr, 0UL) != 0)
        return one_numa_node(group.size());
    std::vector<std::string> bus_ids(static_cast<std::size_t>(group.size()));
#if KRYLITH_HAVE_CUDA
    if (group.kind() == backend::cuda)
        for (int rank = 0; rank < group.size(); ++rank)
            bus_ids[static_cast<std::size_t>(rank)] = cuda::pci_bus_id(group[rank]);
#endif
    return read_numa_topology("/sys", bus_ids);
}

void check(const numa_topology& topology, int devices) {
    const auto& nodes = topology.nodes;
    if (nodes.empty()) throw usage_error("numa_topology: there are 0 nodes, must be at least 1");
    std::vector<int> seen;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string who = "numa_topology: nodes[" + to_string(i) + "]";
        if (nodes[i].id < (i == 0 ? 0 : nodes[i - 1].id + 1))
            throw usage_error(who + " has id " + to_string(nodes[i].id) +
                              ", must be 0 or more and above that before it");
        for (const int cpu : nodes[i].cpus) {
            if (cpu < 0 || std::ranges::find(seen, cpu) != seen.end())
                throw usage_error(who + " has CPU " + to_string(cpu) +
                                  ", must be 0 or more and stand once");
            seen.push_back(cpu);
        }
    }
    const auto& placed = topology.node_of_device;
    if (placed.size() != static_cast<std::size_t>(std::max(devices, 0)))
        throw usage_error("numa_topology: it is of " + to_string(placed.size()) +
                          " devices, must be of " + to_string(devices));
    for (std::size_t r = 0; r < placed.size(); ++r)
        if (placed[r] < 0 || static_cast<std::size_t>(placed[r]) >= nodes.size())
            throw usage_error("numa_topology: node_of_device[" + to_string(r) + "] is " +
                              to_string(placed[r]) + ", must be 0 or more and below " +
                              to_string(nodes.size()));
}

on_numa_node::on_numa_node(const numa_topology& topology, int node) {
    if (node < 0 || static_cast<std::size_t>(node) >= topology.nodes.size())
        throw usage_error("on_numa_node: node is " + to_string(node) +
                          ", must be 0 or more and below " + to_string(topology.nodes.size()));
    if (topology.nodes.size() == 1 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int cpu : topology.nodes[static_cast<std::size_t>(node)].cpus)
        if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(cpu), &before_))
            CPU_SET(static_cast<std::size_t>(cpu), &wanted);
    bound_ = CPU_COUNT(&wanted) > 0 && sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}

on_numa_node::~on_numa_node() {
    if (bound_) (void)sched_setaffinity(0, sizeof before_, &before_);
}

} // namespace krylith
