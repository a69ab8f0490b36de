// Random pairings of the numbers 0..n-1 that need no memory: random_spd draws its places from them.
#pragma once

#include <cstdint>

#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith {

/// A pairing by a seeded permutation P: the partner of i is P^-1(P(i) xor 1). P is a four-round
/// Feistel network over the least even number of bits that holds n, repeated until its value is
/// below n (fewer than 4 times, on average). partner(partner(i)) = i; for odd n one number is its
/// own.
class random_pairing {
public:
    random_pairing(std::int64_t n, std::uint64_t seed) noexcept
        : n_(static_cast<std::uint64_t>(n)), seed_(seed) {
        while (half_bits_ < 31 && (std::uint64_t{1} << (2 * half_bits_)) < n_) {
            ++half_bits_;
        }
    }

    [[nodiscard]] std::int64_t partner(std::int64_t i) const noexcept {
        const std::uint64_t other = permuted(static_cast<std::uint64_t>(i)) ^ 1;
        return other < n_ ? static_cast<std::int64_t>(restored(other)) : i;
    }

private:
    static constexpr std::uint64_t rounds = 4;

    [[nodiscard]] std::uint64_t half_mask() const noexcept {
        return (std::uint64_t{1} << half_bits_) - 1;
    }

    [[nodiscard]] std::uint64_t permuted(std::uint64_t x) const noexcept {
        do {
            std::uint64_t left = x >> half_bits_;
            std::uint64_t right = x & half_mask();
            for (std::uint64_t round = 0; round < rounds; ++round) {
                const std::uint64_t mixed =
                    left ^ (counter_hash(seed_, round, right) & half_mask());
                left = right;
                right = mixed;
            }
            x = left << half_bits_ | right;
        } while (x >= n_);
        return x;
    }

    [[nodiscard]] std::uint64_t restored(std::uint64_t x) const noexcept {
        do {
            std::uint64_t left = x >> half_bits_;
            std::uint64_t right = x & half_mask();
            for (std::uint64_t round = rounds; round-- > 0;) {
                const std::uint64_t mixed =
                    right ^ (counter_hash(seed_, round, left) & half_mask());
                right = left;
                left = mixed;
            }
            x = left << half_bits_ | right;
        } while (x >= n_);
        return x;
    }

    std::uint64_t n_;
    std::uint64_t seed_;
    unsigned half_bits_ = 1;
};

} // namespace krylith
