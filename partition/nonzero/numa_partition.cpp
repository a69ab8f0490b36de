#include <krylith/partition/nonzero/numa_partition.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

/// Ranks by node: nodes in the order of their first device, ranks of a node ascending.
std::vector<int> by_nodes(std::span<const int> node_of_device) {
    if (node_of_device.empty())
        throw usage_error("numa_partition: there are 0 devices, must be at least 1");
    std::vector<int> first(node_of_device.size()); // rank of the node's first device
    for (std::size_t r = 0; r < node_of_device.size(); ++r) {
        if (node_of_device[r] < 0)
            throw usage_error("numa_partition: node_of_device[" + to_string(r) + "] is " +
                              to_string(node_of_device[r]) + ", must be 0 or more");
        first[r] = static_cast<int>(std::ranges::find(node_of_device, node_of_device[r]) -
                                    node_of_device.begin());
    }
    std::vector<int> ranks(node_of_device.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::stable_sort(ranks, {}, [&](int r) { return first[static_cast<std::size_t>(r)]; });
    return ranks;
}

} // namespace

numa_partition make_numa_partition(std::int64_t entries, std::span<const int> node_of_device) {
    std::vector<int> device = by_nodes(node_of_device);
    const auto parts = static_cast<int>(device.size());
    return {std::move(device), equal_entries(entries, parts)};
}

void check(const numa_partition& partition, std::span<const int> node_of_device,
           std::int64_t entries) {
    const std::vector<int>& device = partition.device;
    const auto refuse = [](std::size_t part, const std::string& what) {
        throw usage_error("numa_partition: device[" + to_string(part) + "] is " + what);
    };
    if (device.size() != node_of_device.size())
        throw usage_error("numa_partition: it is of " + to_string(device.size()) +
                          " devices, must be of " + to_string(node_of_device.size()));
    if (partition.entries.parts() != static_cast<int>(device.size()))
        throw usage_error("numa_partition: entries has " + to_string(partition.entries.parts()) +
                          " parts for " + to_string(device.size()) + " devices");
    for (std::size_t k = 0; k < device.size(); ++k) {
        const int rank = device[k];
        if (rank < 0 || rank >= static_cast<int>(device.size()))
            refuse(k,
                   to_string(rank) + ", must be 0 or more and below " + to_string(device.size()));
        const int node = node_of_device[static_cast<std::size_t>(rank)];
        bool left = false; // the node's devices, seen backwards from here
        for (std::size_t i = k; i-- > 0;) {
            if (device[i] == rank)
                refuse(k, to_string(rank) + ", as device[" + to_string(i) + "] is");
            const bool same = node_of_device[static_cast<std::size_t>(device[i])] == node;
            if (same && left)
                refuse(k, to_string(rank) + " of node " + to_string(node) +
                              ", whose devices must stand together");
            left = left || !same;
        }
    }
    check(partition.entries, entries);
}

} // namespace krylith
