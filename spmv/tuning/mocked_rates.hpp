// The rates of a machine as a test sets them. Not installed.
#pragma once

#include <optional>

#include <krylith/spmv/machine_rates.hpp>

namespace krylith {

/// While an object lives, rates_of() returns these rates and nothing is read; an object made
/// without rates restores the behaviour outside of tests. Objects may be nested.
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
