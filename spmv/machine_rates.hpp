// How fast the devices of a group move bytes and take turns: what the cost model reckons with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/device/device_group.hpp>

namespace krylith {

struct machine_rates {
    double copy = 0;    ///< bytes/s read and written by a device copying its memory
    double product = 0; ///< bytes/s that products read and write, by the byte model
    double stores = 0;  ///< bytes/s into each device while kernels of all store to all
    double engines = 0; ///< bytes/s into each device by copy engines, from 64 MB on
    std::vector<double>
        phase; ///< [k - 1]: seconds of a small kernel and its all-reduce on k devices

    /// Seconds of a dependent phase on so many devices; of more than were measured, the last.
    [[nodiscard]] double phase_on(int devices) const;

    friend bool operator==(const machine_rates&, const machine_rates&) = default;
};

/// Throws usage_error naming the first rate that is not finite and positive.
void check(const machine_rates& rates);

/// What rates are kept under: names of the devices, their number, the driver, the transport.
[[nodiscard]] std::string machine_name(const device_group& group);

/// Measures the idle group, in under a second on GPUs, with at most 256 MB a device, freed again.
/// Throws device_error where memory is short.
[[nodiscard]] machine_rates measure(const device_group& group);

/// As a line of text, and back; nothing where it is not what format() writes.
[[nodiscard]] std::string format(const machine_rates& rates);
[[nodiscard]] std::optional<machine_rates> parse_machine_rates(std::string_view line);

/// What earlier processes measured on this machine and kept (tuning_file.hpp), if it can be read.
[[nodiscard]] std::optional<machine_rates> load_rates(const device_group& group);

/// Keeps them for later processes. Why that can't be done, or empty.
std::string save_rates(const device_group& group, const machine_rates& rates);

/// Rates, and where they are from.
struct known_rates {
    machine_rates rates;
    std::string from; ///< "measured, and kept in FILE", ... for reports
};

/// Those kept, else measured now and kept; once a process. A file that is corrupt or can't be
/// written does no harm: it is measured anew. Where memory is short, the rates of an H200
/// (`from` says so), and a later call tries again. Any number of threads may call it.
[[nodiscard]] known_rates rates_of(const device_group& group);

/// For tests: as long as it lives, rates_of says these, and nothing is measured or read. One may
/// stand inside another.
class mocked_rates {
public:
    explicit mocked_rates(machine_rates rates);
    ~mocked_rates();
    mocked_rates(const mocked_rates&) = delete;
    mocked_rates& operator=(const mocked_rates&) = delete;

private:
    std::optional<machine_rates> before_;
};

/// Of up to eight H200: a copy 4.1 TB/s, a phase 3.6 us on one device and 5.2 us on four.
[[nodiscard]] machine_rates h200_rates();

} // namespace krylith
