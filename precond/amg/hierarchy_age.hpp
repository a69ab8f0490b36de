// Whether a hierarchy still suits the values that updates have given it.
#pragma once

#include <cstdint>

namespace krylith {

/// Compares the iterations of solves with those of the first.
class hierarchy_age {
public:
    /// More than so many times the first solve's iterations make a rebuild due.
    static constexpr double most_growth = 1.5;

    void solved(std::int64_t iterations) {
        if (iterations < 1) return; // there was nothing to do
        if (first_ < 0)
            first_ = iterations;
        else if (static_cast<double>(iterations) > most_growth * static_cast<double>(first_))
            due_ = true;
    }
    [[nodiscard]] bool rebuild_due() const { return due_; }

    /// All has been made anew: the next solve is the measure.
    void begin() {
        first_ = -1;
        due_ = false;
    }
    /// The same because new values wanted it.
    void rebuilt() {
        ++rebuilds_;
        begin();
    }
    [[nodiscard]] int rebuilds() const { return rebuilds_; }

private:
    std::int64_t first_ = -1; ///< iterations of the first solve since the set-up; -1: none yet
    bool due_ = false;
    int rebuilds_ = 0;
};

} // namespace krylith
