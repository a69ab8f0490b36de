// A seeded shuffling of the numbers 0..n-1 that needs no memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith {

/// A permutation and its inverse: rounds of odd multiples and shifted copies, each of which can be
/// undone, on the least number of bits that holds n, repeated until the value is below n (less than
/// twice, on average). It is cheaper than random_pairing's network, and good enough to scatter what
/// lay together.
class scramble {
public:
    /// n: 1 to 2^32.
    scramble(std::int64_t n, std::uint64_t seed) noexcept
        : n_(static_cast<std::uint64_t>(n)),
          bits_(std::max(2, static_cast<int>(std::bit_width(n_ - 1)))),
          mask_((std::uint64_t{1} << bits_) - 1) {
        for (std::uint64_t k = 0; k < rounds; ++k) {
            factor_[k] = counter_hash(seed, k) | 1;
            offset_[k] = counter_hash(seed, k, 1);
            inverse_[k] = inverse_of(factor_[k]);
        }
    }

    [[nodiscard]] std::int64_t forward(std::int64_t i) const noexcept {
        auto x = static_cast<std::uint64_t>(i);
        do {
            for (std::uint64_t k = 0; k < rounds; ++k) {
                x = folded((x * factor_[k] + offset_[k]) & mask_);
            }
        } while (x >= n_);
        return static_cast<std::int64_t>(x);
    }

    [[nodiscard]] std::int64_t backward(std::int64_t i) const noexcept {
        auto x = static_cast<std::uint64_t>(i);
        do {
            for (std::uint64_t k = rounds; k-- > 0;) {
                x = ((folded(x) - offset_[k]) * inverse_[k]) & mask_;
            }
        } while (x >= n_);
        return static_cast<std::int64_t>(x);
    }

private:
    static constexpr std::uint64_t rounds = 3;

    /// A folding that is its own inverse, as the shift is at least half the bits.
    [[nodiscard]] std::uint64_t folded(std::uint64_t x) const noexcept {
        return x ^ (x >> ((bits_ + 1) / 2));
    }
    /// The inverse of an odd number modulo 2^64: Newton's iteration, from 3 right bits on.
    static std::uint64_t inverse_of(std::uint64_t odd) noexcept {
        std::uint64_t x = odd;
        for (int right = 3; right < 64; right *= 2) {
            x *= 2 - odd * x;
        }
        return x;
    }

    std::uint64_t n_;
    int bits_;
    std::uint64_t mask_;
    std::uint64_t factor_[rounds];
    std::uint64_t offset_[rounds];
    std::uint64_t inverse_[rounds];
};

} // namespace krylith
