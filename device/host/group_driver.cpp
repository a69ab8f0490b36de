#include <krylith/device/host/group_driver.hpp>

#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

struct driven {
    std::thread::id by;
    int times = 0;
};

/// The drivers of all groups. Every group has device objects of its own: the first stands for it.
struct table {
    std::mutex guard;
    std::map<const device*, driven> groups;
};

table& all() {
    static table instance;
    return instance;
}

} // namespace

group_driver::group_driver(device_group group) : group_(std::move(group)) {
    group_.check_process();
    if (group_.size() == 0)
        throw usage_error("work for the ranks of a communicator was asked of a driver that has "
                          "none of them");
    table& t = all();
    const std::scoped_lock lock(t.guard);
    driven& entry = t.groups[group_.handle(0).get()];
    if (entry.times != 0 && entry.by != std::this_thread::get_id())
        throw usage_error("a second host thread began to work with a device group that another "
                          "one is working with: one host thread at a time may drive a group; "
                          "allowed are one after the other, or a group for each");
    entry.by = std::this_thread::get_id();
    ++entry.times;
}

group_driver::~group_driver() {
    table& t = all();
    const std::scoped_lock lock(t.guard);
    const auto entry = t.groups.find(group_.handle(0).get());
    if (--entry->second.times == 0) t.groups.erase(entry);
}

} // namespace krylith
