// What an operator keeps of the choices that were made for it, and of its values.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <krylith/sparse/device_matrix/doubled_residual.hpp>

namespace krylith {

struct operator_facts;

/// Sizes of the values of a matrix, by a pass over its entries.
struct matrix_norms {
    double squares; ///< squared Frobenius norm
    std::int64_t longest_row;

    /// Returns a bound of what rounding may add to ||b - s A x||_2, by squared norms of x and b;
    /// infinity where squares leave the range of double, so that they bound nothing.
    [[nodiscard]] double rounding(double epsilon, double s, double xx, double bb) const {
        constexpr double slack = 1.001; // for the rounding of the norms
        const auto in_range = [](double v) { return v > 1e-200 && v < 1e200; };
        if (longest_row != 0 && !(in_range(squares) && in_range(xx))) return INFINITY;
        return slack *
               residual_rounding(longest_row, epsilon,
                                 std::fabs(s) * std::sqrt(squares) * std::sqrt(xx) + std::sqrt(bb));
    }
};

/// The norms of the values, once a residual in doubled precision has found them. Solves of other
/// threads may ask for them at the same time.
class kept_norms {
public:
    [[nodiscard]] std::optional<matrix_norms> get() const {
        const std::lock_guard held(lock_);
        return norms_;
    }
    void set(std::optional<matrix_norms> norms) {
        const std::lock_guard held(lock_);
        norms_ = norms;
    }

private:
    mutable std::mutex lock_;
    std::optional<matrix_norms> norms_;
};

struct kept_facts {
    std::shared_ptr<const operator_facts> facts; ///< of facts_of(); null since the last new values
    kept_norms norms;                            ///< the same
    std::int64_t longest_row = 0;                ///< its entries; 0: not known
    std::shared_ptr<void> preconditioner;        ///< that solve() made last, or null

    /// Forgets what is known of the values.
    void forget_values() {
        facts.reset();
        norms.set({});
    }
};

} // namespace krylith
