// An estimate of how long a member of a family will take to generate.
#pragma once

#include <map>
#include <string>

#include <krylith/bench/spmv/spmv_families.hpp>

namespace krylith::bench {

/// A clock that scales the time of the last generated member of the family by nonzeros.
class generation_clock {
public:
    /// Returns seconds; 0 for a case that is no family's member. Generates the smallest of the
    /// family where none was seen yet.
    [[nodiscard]] double predict(const spmv_case& c);
    void took(const spmv_case& c, double seconds);

private:
    std::map<std::string, double> seconds_a_million_; // by family
};

} // namespace krylith::bench
