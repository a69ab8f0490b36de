// What the lines "auto" of the kernel `formats` say of all matrices together.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>

namespace krylith::bench {

class formats_summary {
public:
    /// Takes a row of the report; rows of other kernels, of single formats and void ones are passed
    /// over.
    void take(const json& row);

    [[nodiscard]] std::size_t matrices() const { return lines_.size(); }
    /// The geometric mean of the peer's time over that of auto and the worst, and the same of what
    /// auto loses against the fastest format.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] json to_json() const;

private:
    struct line {
        std::string matrix;
        double speedup; ///< 0: no peer
        double loss;    ///< the time of auto over that of the fastest format, less 1
    };
    struct totals {
        double mean_speedup = 0;
        double mean_loss = 0;
        line least_speedup;
        line largest_loss;
    };
    [[nodiscard]] totals add_up() const;

    std::vector<line> lines_;
    std::string matrix_; ///< of the rows of single formats
    double fastest_ = 0; ///< ms, of these
};

} // namespace krylith::bench
