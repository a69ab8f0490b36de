// How fast the devices of a group move bytes and take turns: what the cost model reckons with.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
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

/// Measures the idle group once, in under a second on GPUs, with at most 256 MB a device, freed
/// again. Throws device_error where memory is short.
[[nodiscard]] machine_rates measure(const device_group& group);

/// As a line of text, and back; nothing where it is not what format() writes.
[[nodiscard]] std::string format(const machine_rates& rates);
[[nodiscard]] std::optional<machine_rates> parse_machine_rates(std::string_view line);

/// Each rate is the median of those given, at least one, all for as many devices: of an even
/// number the mean of the two in the middle.
[[nodiscard]] machine_rates median(std::span<const machine_rates> measured);

/// The last measurements of this machine that were kept (tuning_file.hpp), oldest first; none where
/// there are none or they can't be read.
[[nodiscard]] std::vector<machine_rates> kept_measurements(const device_group& group);

/// So many measurements are kept: an earlier one, made on a busy machine, is forgotten after as
/// many.
inline constexpr std::size_t most_kept_measurements = 5;

/// Keeps a measurement for later processes beside the last ones. Why that can't be done, or empty.
std::string keep_measurement(const device_group& group, const machine_rates& rates);

/// Rates, and where they are from.
struct known_rates {
    machine_rates rates;
    std::string from; ///< "median of 3 measurements, in FILE", ... for reports
};

/// The median of the measurements kept when this process asked first, else built_in_rates(): what
/// it says changes only by measure_and_keep(), here or in an earlier process, so that `auto` takes
/// the same operator from run to run. It never measures. Any number of threads may call it.
[[nodiscard]] known_rates rates_of(const device_group& group);

/// Measures the idle group three times, keeps the median as one measurement, and makes the median
/// of all that are kept, or of this one where it can't be kept, what rates_of() says from now on.
/// `krylith devices` calls it. Throws device_error where memory is short.
known_rates measure_and_keep(const device_group& group);

/// Where nothing was measured: h200_rates() for CUDA devices, host_rates() for the others.
[[nodiscard]] machine_rates built_in_rates(backend kind);

/// Of host devices with a core each, of a server's CPU: a copy 20 GB/s, a phase 2.7 us on two.
[[nodiscard]] machine_rates host_rates();

/// Of up to eight H200: a copy 4.1 TB/s, a phase 3.6 us on one device and 5.2 us on four.
[[nodiscard]] machine_rates h200_rates();

} // namespace krylith
