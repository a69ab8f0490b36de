// The speed of a device's memory, with which the byte models are compared.
#pragma once

#include <string>

#include <krylith/bench/common/device_choice.hpp>

namespace krylith::bench {

struct memory_rate {
    double copy = 0;     ///< bytes a second of one device, read and written, measured by a copy
    double limit = 0;    ///< bytes a second of one device that no kernel exceeds
    bool shared = false; ///< host devices: the limit is that of all of them together

    /// Returns whether it was measured.
    [[nodiscard]] bool known() const { return limit > 0; }
    [[nodiscard]] double limit_of(int devices) const { return shared ? limit : limit * devices; }
    [[nodiscard]] double copy_of(int devices) const { return shared ? copy : copy * devices; }
};

/// Measures the first device. The limit is `given` (TB/s) unless 0, else the data sheet's for a
/// GPU that is known, else what reading (host) or copying (CUDA) reached.
[[nodiscard]] memory_rate measure_memory_rate(const device_choice& choice, double given);

/// Returns "NVIDIA H200 (cuda:0); copy 4012.3 GB/s, limit 4800.0 GB/s a device"; the device alone
/// where no rate is known.
[[nodiscard]] std::string in_words(const device_choice& choice, const memory_rate& rate);

} // namespace krylith::bench
