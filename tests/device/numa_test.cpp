// NUMA nodes: the files of a system, simulated machines of two nodes, threads and memory.
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/numa.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

/// A folder like /sys while it lives.
class system_files {
public:
    system_files()
        : path(std::filesystem::temp_directory_path() /
               ("krylith-numa-test-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path);
    }
    ~system_files() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    system_files(const system_files&) = delete;
    system_files& operator=(const system_files&) = delete;

    void write(const std::string& file, const std::string& line) const {
        std::filesystem::create_directories((path / file).parent_path());
        std::ofstream(path / file) << line << '\n';
    }

    std::filesystem::path path;
};

std::vector<int> usable_cpus() {
    cpu_set_t set;
    REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    std::vector<int> result;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) result.push_back(cpu);
    return result;
}

/// The node of a page, -1 where the system doesn't say.
int node_of(void* page) {
    int node = -1;
    constexpr long of_the_page = 1 | 2; // MPOL_F_NODE | MPOL_F_ADDR
    if (syscall(SYS_get_mempolicy, &node, nullptr, 0L, page, of_the_page) != 0) return -1;
    return node;
}

/// Two nodes with the first usable CPU and the others; this machine need not have these nodes.
numa_topology simulated() {
    const std::vector<int> cpus = usable_cpus();
    return {{{0, {cpus.front()}}, {1, {cpus.begin() + 1, cpus.end()}}}, {0, 1}};
}

} // namespace

TEST_CASE("numa: nodes, CPUs and devices as the files of the system say") {
    const system_files files;
    files.write("devices/system/node/online", "0-1,4,8");
    files.write("devices/system/node/node0/cpulist", "0-2,6");
    files.write("devices/system/node/node1/cpulist", ""); // memory without CPUs
    files.write("devices/system/node/node4/cpulist", "3,4-5");
    files.write("bus/pci/devices/0000:17:00.0/numa_node", "4");
    files.write("bus/pci/devices/0000:18:00.0/numa_node", "-1");
    files.write("bus/pci/devices/0000:19:00.0/numa_node", "1");
    files.write("bus/pci/devices/0000:1a:00.0/numa_node", "0");
    const std::vector<std::string> devices{"0000:17:00.0", "0000:18:00.0", "0000:19:00.0",
                                           "0000:1a:00.0", "absent",       ""};
    const numa_topology found = read_numa_topology(files.path, devices);
    CHECK(found.nodes == std::vector<numa_node>{{0, {0, 1, 2, 6}}, {4, {3, 4, 5}}});
    CHECK(found.node_of_device == std::vector<int>{1, 0, 0, 0, 0, 0});
    CHECK_NOTHROW(check(found, 6));
}

TEST_CASE("numa: files that say nothing, or nonsense, are one node") {
    const system_files files;
    const std::vector<std::string> devices{"0000:17:00.0", ""};
    CHECK(read_numa_topology(files.path, devices) == one_numa_node(2));
    for (const char* broken : {"", "x", "0-", "-1", "3-x", "0-99999999999", "0-70000"}) {
        files.write("devices/system/node/online", broken);
        files.write("devices/system/node/node0/cpulist", broken);
        CHECK(read_numa_topology(files.path, devices) == one_numa_node(2));
    }
}

TEST_CASE("numa: every defect of a topology is refused") {
    const numa_topology good{{{0, {0, 1}}, {2, {2}}}, {0, 1, 1}};
    CHECK_NOTHROW(check(good, 3));
    const auto says = [&](const char* message, const auto& plant, int devices = 3) {
        numa_topology bad = good;
        plant(bad);
        CHECK_THROWS_WITH_AS(check(bad, devices), message, usage_error);
    };
    says("numa_topology: there are 0 nodes, must be at least 1", [](auto& t) { t.nodes.clear(); });
    says("numa_topology: nodes[0] has id -1, must be 0 or more and above that before it",
         [](auto& t) { t.nodes[0].id = -1; });
    says("numa_topology: nodes[1] has id 0, must be 0 or more and above that before it",
         [](auto& t) { t.nodes[1].id = 0; });
    says("numa_topology: nodes[1] has CPU 1, must be 0 or more and stand once",
         [](auto& t) { t.nodes[1].cpus = {1}; });
    says("numa_topology: nodes[0] has CPU -3, must be 0 or more and stand once",
         [](auto& t) { t.nodes[0].cpus = {-3}; });
    says(
        "numa_topology: it is of 3 devices, must be of 2", [](auto&) {}, 2);
    says("numa_topology: node_of_device[1] is 2, must be 0 or more and below 2",
         [](auto& t) { t.node_of_device[1] = 2; });
    CHECK_THROWS_AS((void)one_numa_node(0), usage_error);
}

TEST_CASE("numa: a thread is bound to a node's CPUs, and gets its own back") {
    const std::vector<int> before = usable_cpus();
    const numa_topology two = simulated();
    for (int node = 0; node < 2; ++node) {
        const auto& cpus = two.nodes[static_cast<std::size_t>(node)].cpus;
        {
            const on_numa_node scope(two, node);
            CHECK(scope.bound() == !cpus.empty());
            CHECK(usable_cpus() == (cpus.empty() ? before : cpus));
            std::vector<int> of_child; // inherited
            std::thread([&] { of_child = usable_cpus(); }).join();
            CHECK(of_child == usable_cpus());
        }
        CHECK(usable_cpus() == before);
    }
    {
        const on_numa_node outer(two, 0);
        const on_numa_node inner(two, 1); // its CPUs are not among those that outer leaves
        CHECK_FALSE(inner.bound());
    }
    {
        const on_numa_node nothing(one_numa_node(2), 0);
        CHECK_FALSE(nothing.bound());
        const numa_topology strange{{{0, {}}, {1, {1 << 20, -1}}}, {}};
        for (const int node : {0, 1}) CHECK_FALSE(on_numa_node(strange, node).bound());
        CHECK(usable_cpus() == before);
    }
    CHECK(usable_cpus() == before);
    CHECK_THROWS_WITH_AS(on_numa_node(two, 2),
                         "on_numa_node: node is 2, must be 0 or more and below 2", usage_error);
    CHECK_THROWS_AS(on_numa_node(two, -1), usage_error);
}

TEST_CASE("numa: memory of a node is zero, moves, and is refused with the bytes") {
    node_memory none(one_numa_node(1), 0, 0);
    CHECK(none.data() == nullptr);
    CHECK_FALSE(node_memory(one_numa_node(1), 0, 64).placed());
    // Node 63 isn't there, while every machine has memory on node 0; the bytes exceed two huge
    // pages.
    const numa_topology two{{{0, {0}}, {63, {1}}}, {0, 1}};
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{5} << 20})
        for (const int node : {0, 1}) {
            node_memory memory(two, node, bytes);
            if (node == 1) CHECK_FALSE(memory.placed());
            CHECK_FALSE(memory.pinned());
            CHECK(memory.size() == bytes);
            CHECK(memory.data()[bytes - 1] == std::byte{0});
            std::memset(memory.data(), 7, bytes);
            std::byte* const place = memory.data();
            none = std::move(memory);
            CHECK(none.data() == place);
            CHECK(none.data()[0] == std::byte{7});
            if (none.placed() && node_of(place) >= 0) CHECK(node_of(place) == 0);
        }
    CHECK_THROWS_AS(node_memory(two, 2, 8), usage_error);
    CHECK_THROWS_AS(node_memory(two, 0, std::size_t{1} << 60), device_error);
}

KRYLITH_GROUP_TEST("numa: the machine's nodes, and memory that serves each device") {
    const numa_topology found = find_numa_topology(group);
    CHECK_NOTHROW(check(found, group.size()));
    const std::vector<int> before = usable_cpus();
    for (int rank = 0; rank < group.size(); ++rank) {
        const int node = found.node_of_device[static_cast<std::size_t>(rank)];
        const on_numa_node scope(found, node);
        constexpr std::size_t count = 100000;
        const node_memory from(found, node, count * sizeof(double), group.handle(rank));
        const node_memory to(found, node, count * sizeof(double), group.handle(rank));
        CHECK(from.pinned() == (group.kind() == backend::cuda));
        CHECK(group[rank].lies_elsewhere(from.data()).empty());
        auto* const values = reinterpret_cast<double*>(from.data());
        for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
        const int page_node = node_of(from.data());
        if (from.placed() && page_node >= 0)
            CHECK(page_node == found.nodes[static_cast<std::size_t>(node)].id);
        const buffer<double> there(group.handle(rank), {values, count}, "numa test");
        group[rank].download(to.data(), there.data(), to.size());
        CHECK(std::memcmp(from.data(), to.data(), to.size()) == 0);
    }
    CHECK(usable_cpus() == before);
}

} // namespace krylith
