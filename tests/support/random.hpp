// Reproducible random numbers for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace krylith::testing {

class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : engine_(seed) {}

    /// Returns a number in [low, high), the same on every platform, unlike the standard library's
    /// distributions.
    [[nodiscard]] double real(double low = -1, double high = 1) {
        return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
    }
    /// Returns a number from 0 to count - 1.
    [[nodiscard]] int below(int count) {
        return static_cast<int>(engine_() % static_cast<std::uint64_t>(count));
    }
    [[nodiscard]] bool flip() { return (engine_() & 1) != 0; }

private:
    std::mt19937_64 engine_;
};

template <class T>
[[nodiscard]] std::vector<T> random_values(std::int64_t n, std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& v : values) v = static_cast<T>(random.real());
    return values;
}

/// k columns of random values, one after the other.
template <class T>
[[nodiscard]] std::vector<T> random_columns(std::int64_t rows, int k, std::uint64_t seed = 700) {
    std::vector<T> columns;
    for (int j = 0; j < k; ++j)
        for (const T value : random_values<T>(rows, seed + static_cast<unsigned>(j)))
            columns.push_back(value);
    return columns;
}

} // namespace krylith::testing
