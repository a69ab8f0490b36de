// How host threads that drive devices of one communicator talk to each other.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// What a driver has of the others: one exchange of bytes, which each begins with the same call. It
/// carries what hosts must know of each other while things are made; nothing in a loop uses it.
class driver_link {
public:
    driver_link() = default;
    driver_link(const driver_link&) = delete;
    driver_link& operator=(const driver_link&) = delete;
    virtual ~driver_link() = default;

    [[nodiscard]] virtual int drivers() const noexcept = 0;
    /// The number of this one, from 0.
    [[nodiscard]] virtual int driver() const noexcept = 0;
    /// Gives bytes to all drivers, which may give different numbers of them, and returns those of
    /// each. Waits for all of them. Throws communication_error where one has ended, or doesn't call
    /// in time; so do all later calls.
    [[nodiscard]] virtual std::vector<std::vector<std::byte>>
    all_gather(const std::vector<std::byte>& given) = 0;
    /// Keeps what others may still use until all drivers have ended.
    virtual void keep(std::shared_ptr<const void> what) = 0;
};

/// Makes the links of threads of this process: the k-th for the thread that is driver k. A thread
/// that destroys its link has ended for the others, which wait for it `timeout_seconds` at most.
/// Throws usage_error for fewer than one thread, and unless timeout_seconds > 0; infinity is
/// allowed.
[[nodiscard]] std::vector<std::shared_ptr<driver_link>> link_threads(int threads,
                                                                     double timeout_seconds = 600);

} // namespace krylith
