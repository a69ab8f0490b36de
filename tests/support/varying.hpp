// A preconditioner that differs from one application to the next, in a way that tests can repeat.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/solvers/concepts.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/vectors.hpp>

namespace krylith::testing {

/// Application k multiplies entry i by weight(k, i), which is positive.
template <class T>
class varying_weights {
public:
    static constexpr std::int64_t period = 3;

    /// Between 0.5 and 1.5.
    [[nodiscard]] static double weight(std::int64_t k, std::int64_t i) {
        return 0.5 + 0.25 * static_cast<double>((7 * (k % period) + 3 * i) % 5);
    }

    explicit varying_weights(const matrix_operator<T>& a) {
        for (std::int64_t k = 0; k < period; ++k) {
            std::vector<T> values;
            for (std::int64_t i = 0; i < a.size(); ++i)
                values.push_back(static_cast<T>(weight(k, i)));
            weights_.push_back(make_range_vector(a.layout(), values));
        }
    }

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const {
        fused(run, z = pointwise(weights_[static_cast<std::size_t>(count_++ % period)], r), dots);
    }
    [[nodiscard]] bool recordable() const { return false; }
    [[nodiscard]] std::int64_t bytes() const { return 0; }
    [[nodiscard]] std::string name() const { return "varying weights"; }
    [[nodiscard]] bool varies() const { return true; }

    /// Begins with application 0 again.
    void begin() const { count_ = 0; }

private:
    std::vector<vector<T>> weights_;
    mutable std::int64_t count_ = 0;
};

} // namespace krylith::testing
