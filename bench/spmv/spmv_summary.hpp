// The summary of the rows of `krylith bench spmv`.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>

namespace krylith::bench {

/// A summary of the rows that are not void and ran on several devices.
class spmv_summary {
public:
    /// `target` is the speedup that operators are asked for.
    explicit spmv_summary(double target) : target_(target) {}

    void add(const json& row);

    /// {"speedups": geometric means by operator and devices, "forbidden": [cases]}. A case is
    /// forbidden where the operator's limit itself (spmv_limit) is less than `target` times as fast
    /// as one device, though there are more devices than that.
    [[nodiscard]] json as_json() const;
    [[nodiscard]] static std::string in_words(const json& summary);

private:
    double target_;
    std::vector<json> rows_;
};

} // namespace krylith::bench
