// What messages between two processes cost by themselves: the least that posted paths could.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include <krylith/bench/common/slope.hpp>
#include <krylith/comm/driver_link.hpp>
#include <krylith/device/device.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

/// Two processes of one link, each with a device of its own.
struct process_pair {
    driver_link& link;
    std::shared_ptr<device> own;
    int tag; ///< of the messages of these functions; the same in both

    [[nodiscard]] int other() const { return 1 - link.driver(); }
    /// Waits until `there()`. Throws communication_error after the link's time-out.
    template <class Condition>
    void await(const Condition& there) const {
        using clock = std::chrono::steady_clock;
        const std::chrono::duration<double> patience(link.timeout_seconds());
        for (const auto begin = clock::now(); !there();)
            if (clock::now() - begin > patience)
                throw communication_error("the other process does not answer");
    }
};

/// Both send each other so many bytes from memory that kernels can write, and receive into such
/// memory, `times` times. Returns the seconds of one exchange. Collective.
[[nodiscard]] spread time_exchanges(const process_pair& pair, std::size_t bytes, int times);

/// An all-reduce of one number with nothing around it: kernels of a graph, one behind the other,
/// each of which stores 16 bytes into memory of the host and waits for the other process's there,
/// while both hosts exchange them. Returns the seconds of one kernel. GPUs only. Collective.
[[nodiscard]] spread time_bare_sums(const process_pair& pair, int kernels, int times);

} // namespace krylith::bench
