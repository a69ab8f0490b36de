#include <krylith/tests/support/groups.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

namespace krylith::testing {

bool one_group_is_enough() {
    return std::getenv("KRYLITH_TEST_ONE_GROUP") != // NOLINT(concurrency-mt-unsafe): read only
           nullptr;
}

std::vector<device_group> host_groups() {
    if (one_group_is_enough()) return {device_group::host(3)};
    std::vector<device_group> groups;
    for (const int size : {1, 2, 3, 4, 7}) groups.push_back(device_group::host(size));
    groups.push_back(device_group::host(3, {.staged = true}));
    return groups;
}

std::vector<device_group> cuda_groups() {
    const int present = cuda_device_count();
    if (present == 0)
        throw std::runtime_error("tests named [cuda] need a CUDA device: there is none here");
    const auto first = [&](int size) {
        std::vector<int> ordinals;
        for (int i = 0; i < size; ++i) ordinals.push_back(present < size ? 0 : i);
        return ordinals;
    };
    std::vector<device_group> groups;
    for (const int size : {1, 2, 3}) groups.push_back(device_group::cuda(first(size)));
    if (present > 3) groups.push_back(device_group::cuda(first(present)));
    groups.push_back(device_group::cuda(first(2), {.staged = true}));
    return groups;
}

device_group one_device_like(const device_group& group) {
    return group.kind() == backend::cuda ? device_group::cuda(std::array{0})
                                         : device_group::host(1);
}

std::string describe(const device_group& group) {
    std::string text = std::to_string(group.size()) + " " + to_string(group.kind()) + " devices";
    if (!group.concurrent()) text += " (" + group.serialised_because() + ")";
    return text;
}

void on_groups(const std::vector<device_group>& groups,
               const std::function<void(const device_group&)>& body) {
    for (const device_group& group : groups) {
        INFO("group: ", describe(group));
        body(group);
    }
}

} // namespace krylith::testing
