// The terms of which predictions of an iteration of CG are made: operators add them up in the rows
// of their table (operator_method::seconds). cost_model.hpp has the sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/spmv/cost_model.hpp>

namespace krylith {

/// The arguments must outlive the model.
class iteration_model {
public:
    using part = pattern_statistics::part;

    iteration_model(const pattern_statistics& statistics, const machine_rates& rates,
                    double redundant);

    [[nodiscard]] const pattern_statistics& statistics() const { return statistics_; }
    [[nodiscard]] const machine_rates& rates() const { return rates_; }
    /// The fraction of the entries that every device computes for itself, where an operator does.
    [[nodiscard]] double redundant() const { return redundant_; }
    [[nodiscard]] double value_bytes() const { return value_; }
    [[nodiscard]] double rows() const { return rows_; }

    /// Returns the largest seconds(part) of all devices.
    template <class Seconds>
    [[nodiscard]] double slowest(Seconds seconds) const {
        double most = 0;
        for (const part& device : statistics_.parts) most = std::max(most, seconds(device));
        return most;
    }

    /// Returns the bytes of a nonzero.
    [[nodiscard]] double entry(const part& device) const;
    /// Returns the seconds of a device's product.
    [[nodiscard]] double product(const part& device) const;
    /// Returns the seconds of the longest row, which one block sums.
    [[nodiscard]] double longest_row() const { return row_of(statistics_.longest_row); }
    /// Returns the seconds of a row of so many nonzeros, which one block sums.
    [[nodiscard]] double row_of(std::int64_t nonzeros) const;
    /// Returns the seconds of the slowest device's product.
    [[nodiscard]] double products() const;
    /// Returns the seconds until a device has received the entries of all rows that it doesn't own.
    [[nodiscard]] double all_others(const part& device) const;
    /// Returns the seconds of the vectors' passes, where each device has the rows that it owns and
    /// sends entries of a list.
    [[nodiscard]] double owned_vectors(const part& device) const;
    /// Returns the seconds by which ghosts come later than the rows that need none are multiplied.
    [[nodiscard]] double late_ghosts(const part& device, double interior_product) const;
    /// Returns the seconds of the phases that depend on each other.
    [[nodiscard]] double phases() const { return phases_; }
    /// Returns the seconds of a phase.
    [[nodiscard]] double phase() const;

private:
    const pattern_statistics& statistics_;
    const machine_rates& rates_;
    double redundant_;
    double value_;
    double rows_;
    double phases_;
};

/// Returns the seconds of two things that overlap, but for a tenth of the shorter: that much of a
/// product and its transfer was exposed on matrices of 300 million nonzeros, or more.
[[nodiscard]] constexpr double beside(double a, double b) noexcept {
    return std::max(a, b) + 0.1 * std::min(a, b);
}

} // namespace krylith
