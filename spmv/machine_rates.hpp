// The rates at which the devices of a group move bytes and wait for each other: the input of the
// cost model.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/comm/communicator.hpp>

namespace krylith {

struct machine_rates {
    double copy = 0;    ///< bytes/s that a device reads and writes while it copies its memory
    double product = 0; ///< bytes/s that products read and write, by the byte model
    double stores = 0;  ///< bytes/s into each device while the kernels of all devices store to all
    double engines = 0; ///< bytes/s into each device by copy engines, for 64 MB and more
    std::vector<double>
        phase; ///< [k - 1]: seconds of a small kernel with its all-reduce on k devices

    /// Returns the seconds of a dependent phase on so many devices; for more than were measured,
    /// the last.
    [[nodiscard]] double phase_on(int devices) const;

    friend bool operator==(const machine_rates&, const machine_rates&) = default;
};

/// Throws usage_error naming the first rate that is not finite and positive.
void check(const machine_rates& rates);

/// Returns the name under which rates are kept: names of the devices, their number, the driver, the
/// transport.
[[nodiscard]] std::string machine_name(const communicator& comm);

/// Measures the idle group once, in less than a second on GPUs, with at most 256 MB on each device,
/// which are freed again. Throws device_error where memory is short.
[[nodiscard]] machine_rates measure(const communicator& comm);

/// Converts rates to a line of text and back; parsing returns nothing for a line that format()
/// didn't write.
[[nodiscard]] std::string format(const machine_rates& rates);
[[nodiscard]] std::optional<machine_rates> parse_machine_rates(std::string_view line);

/// Returns the median of each rate over the measurements, at least one, all for the same number of
/// devices. For an even number it is the mean of the two in the middle.
[[nodiscard]] machine_rates median(std::span<const machine_rates> measured);

/// Returns the last measurements of this machine that were kept (matrix/files/tuning_file.hpp),
/// oldest first; none where there are none or they can't be read.
[[nodiscard]] std::vector<machine_rates> kept_measurements(const communicator& comm);

/// The number of measurements that are kept, so that one made on a busy machine is forgotten after
/// as many others.
inline constexpr std::size_t most_kept_measurements = 5;

/// Keeps a measurement for later processes, beside the last ones. Returns why it can't, or an empty
/// text.
std::string keep_measurement(const communicator& comm, const machine_rates& rates);

/// Rates, and their origin.
struct known_rates {
    machine_rates rates;
    std::string from; ///< "median of 3 measurements, in FILE", ... for reports
};

/// Returns the median of the measurements that were kept when this process first asked, else
/// built_in_rates(). Only measure_and_keep() changes it, here or in an earlier process, so that
/// `auto` takes the same operator from run to run. It never measures. Any number of threads may
/// call it.
[[nodiscard]] known_rates rates_of(const communicator& comm);

/// Measures the idle group three times and keeps the median as one measurement. From then on
/// rates_of() returns the median of all that are kept, or of this one where it can't be kept.
/// `krylith devices` calls it. Throws device_error where memory is short.
known_rates measure_and_keep(const communicator& comm);

/// The rates where nothing was measured: h200_rates() for CUDA devices, host_rates() for the
/// others.
[[nodiscard]] machine_rates built_in_rates(backend kind);

/// The rates of host devices with a core each of a server's CPU: a copy 20 GB/s, a phase 2.7 us on
/// two.
[[nodiscard]] machine_rates host_rates();

/// The rates of up to eight H200: a copy 4.1 TB/s, a phase 3.6 us on one device and 5.2 us on four.
[[nodiscard]] machine_rates h200_rates();

} // namespace krylith
