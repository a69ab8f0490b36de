// Random numbers that are the same everywhere: splitmix64, and distributions of its own.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace random_systems {

class random_source {
public:
    /// Begins a stream, another one for each pair of a seed and an index.
    random_source(std::uint64_t seed, std::uint64_t index) : state_(seed) {
        state_ = bits() ^ (index * 0xD1342543DE82EF95U);
        (void)bits();
    }

    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31);
    }
    /// A number in [0, 1).
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    /// A number in [low, high).
    double between(double low, double high) { return low + (high - low) * unit(); }
    /// A number in [-1, 1).
    double symmetric() { return between(-1, 1); }
    /// A whole number from low to high.
    int integer(int low, int high) {
        const auto choices = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
        return low + static_cast<int>(bits() % choices);
    }
    /// Returns true once in so many times.
    bool once_in(int times) { return integer(1, times) == 1; }
    double sign() { return once_in(2) ? -1 : 1; }
    /// A number that is 10 to a power between low and high.
    double decade(double low, double high) { return std::pow(10.0, between(low, high)); }
    template <class T>
    T pick(std::initializer_list<T> choices) {
        return pick(std::span<const T>(choices.begin(), choices.size()));
    }
    /// An element of a vector, array or span.
    template <class List>
    auto pick(const List& choices) {
        return choices[static_cast<std::size_t>(integer(0, static_cast<int>(choices.size()) - 1))];
    }

private:
    std::uint64_t state_;
};

} // namespace random_systems
