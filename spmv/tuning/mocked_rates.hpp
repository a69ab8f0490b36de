// The rates of a machine as a test wants them. Not installed.
#pragma once

#include <optional>

#include <krylith/spmv/machine_rates.hpp>

namespace krylith {

/// For tests: as long as it lives, rates_of says these, and nothing is read; made without rates, it
/// works as outside of tests. One may stand inside another.
class mocked_rates {
public:
    mocked_rates();
    explicit mocked_rates(machine_rates rates);
    ~mocked_rates();
    mocked_rates(const mocked_rates&) = delete;
    mocked_rates& operator=(const mocked_rates&) = delete;

private:
    std::optional<machine_rates> before_;
};

} // namespace krylith
