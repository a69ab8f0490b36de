// Loops of a host device, whose threads have a part each.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>

namespace krylith::host {

/// Enqueues body(part, parts) on the device's threads, for as many parts as it has threads, all of
/// them on one thread where `items` are few.
template <class Body>
void in_parts(device& device, std::int64_t items, const Body& body) {
    constexpr std::int64_t worth_a_team = 4096;
    auto& host = static_cast<host_device&>(device);
    host.submit([=, all = host.threads()] {
        in_team(items < worth_a_team ? 1 : all, [&](int thread, int team) {
            for (int part = thread; part < all; part += team) body(part, all);
        });
    });
}

/// Enqueues body(begin, end) for ranges of [0, count), one a thread.
template <class Body>
void in_ranges(device& device, std::int64_t count, const Body& body) {
    in_parts(device, count,
             [=](int part, int parts) { body(count * part / parts, count * (part + 1) / parts); });
}

} // namespace krylith::host
