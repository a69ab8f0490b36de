// How the drivers of one communicator talk to each other.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include <krylith/comm/link.h>
#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// A driver's end of a link. It carries what hosts must know of each other while things are made;
/// nothing in a loop on the devices uses it. All throw communication_error where a driver has
/// ended, or doesn't call in time; so do all later calls. Whoever destroys its end has ended for
/// the others.
class driver_link {
public:
    /// Takes a table over, also where it throws. A driver waits for the others `timeout_seconds` at
    /// most; infinity is allowed. Throws usage_error for a table of another version, and unless
    /// timeout_seconds > 0.
    explicit driver_link(const krylith_link& table, double timeout_seconds = 600);
    driver_link(const driver_link&) = delete;
    driver_link& operator=(const driver_link&) = delete;
    ~driver_link();

    [[nodiscard]] int drivers() const noexcept { return table_.n; }
    /// The number of this one, from 0.
    [[nodiscard]] int driver() const noexcept { return table_.rank; }
    [[nodiscard]] double timeout_seconds() const noexcept { return timeout_seconds_; }
    /// Gives bytes to all drivers, which may give different numbers of them, and returns those of
    /// each. Waits for all of them. Few bytes (48) take one exchange of the table, more take two.
    /// `most_seconds` is a shorter time to wait for them.
    [[nodiscard]] std::vector<std::vector<std::byte>>
    all_gather(const std::vector<std::byte>& given,
               double most_seconds = std::numeric_limits<double>::infinity());
    /// Gives given[k] to driver k, and returns what each has given this one. `sizes[k]` bytes come
    /// from driver k, and its own are moved. Waits for the drivers that something comes from.
    [[nodiscard]] std::vector<std::vector<std::byte>>
    all_to_all(std::vector<std::vector<std::byte>> given, const std::vector<std::size_t>& sizes);

private:
    void check(int status, double seconds);
    void exchange(std::vector<std::vector<std::byte>>& given,
                  std::vector<std::vector<std::byte>>& result,
                  const std::vector<std::size_t>& sizes);

    krylith_link table_;
    double timeout_seconds_;
    int failed_ = KRYLITH_LINK_DONE;                ///< the status since which nothing is called
    std::vector<std::vector<std::byte>> left_over_; ///< memory of messages that were not done
};

/// Makes the links of threads of this process: the k-th for the thread that is driver k. A thread
/// that destroys its link has ended for the others. Throws usage_error for fewer than one thread,
/// and unless timeout_seconds > 0.
[[nodiscard]] std::vector<std::shared_ptr<driver_link>> link_threads(int threads,
                                                                     double timeout_seconds = 600);

} // namespace krylith
