// The steps that look for different values in a level's matrix, and that round its entries off the
// diagonal to 16 bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>
#include <krylith/sparse/sell/sixteen_bits.hpp>

namespace krylith::aggregation {

/// Makes r_ij of b_ij, and b_ii + the sum of (b_ij - r_ij) v_j / v_i of the diagonal, so that B v
/// stays. The sum is an integer in units of 2^-40, the same in any order. Where it is more than a
/// sixteenth of the diagonal, since v_i is far smaller than v around it or 0, or where a row has no
/// diagonal, it is left out: it could make B indefinite, and rounding alone does less harm.
struct rounding_step {
    rank_rows a;
    float* values;
    const float* v; ///< by local columns

    static constexpr double units = 1099511627776.0; // 2^40
    static constexpr double most_moved = 1.0 / 16;

    struct part_type {
        long long error = 0;
        long long diagonal = -1; ///< its entry, the last of several
    };

    KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        part_type result;
        const std::int32_t own = a.own(row);
        const double inverse = 1 / static_cast<double>(v[own]);
        const std::int64_t end = a.offsets[row + 1];
        for (std::int64_t k = a.offsets[row] + lane; k < end; k += lanes) {
            const std::int32_t j = a.indices[k];
            if (j == own) {
                result.diagonal = k;
                continue;
            }
            const float rounded = rounded_to_sixteen_bits(values[k]);
            const double error = static_cast<double>(values[k]) - static_cast<double>(rounded);
            values[k] = rounded;
            if (error != 0) result.error += units_of(error * (static_cast<double>(v[j]) * inverse));
        }
        return result;
    }
    KRYLITH_HD static part_type join(const part_type& one, const part_type& other) {
        return {one.error + other.error,
                one.diagonal > other.diagonal ? one.diagonal : other.diagonal};
    }
    KRYLITH_HD bool finish(std::int64_t, const part_type& found) const {
        if (found.diagonal < 0) return false;
        const auto diagonal = static_cast<double>(values[found.diagonal]);
        const double error = static_cast<double>(found.error) / units;
        if (std::fabs(error) <= most_moved * std::fabs(diagonal))
            values[found.diagonal] = static_cast<float>(diagonal + error);
        return false;
    }

private:
    /// 1 stands for all that is larger, and for what is no number.
    [[nodiscard]] KRYLITH_HD static long long units_of(double error) {
        if (error < -1) return -static_cast<long long>(units);
        return static_cast<long long>(error < 1 ? error * units : units);
    }
};

/// Raises a flag of each value that is there in one of `stride` rows, chosen by a hash of their
/// global numbers, by a hash of its bits (the finaliser of MurmurHash3).
struct flag_values_step {
    const std::int64_t* offsets;
    const float* values;
    std::int64_t first_row; ///< global
    std::uint32_t stride;
    unsigned* flags; ///< [value_flags], 0 before

    using part_type = std::uint32_t;
    KRYLITH_HD bool wanted(std::int64_t row) const {
        const auto global = static_cast<std::uint32_t>(first_row + row);
        return (global * 0x9e3779b9u >> 8) % stride == 0;
    }
    KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        const std::int64_t end = offsets[row + 1];
        for (std::int64_t k = offsets[row] + lane; k < end; k += lanes) {
            unsigned* const flag = flags + flag_of(values[k]);
            if (load_shared(flag) == 0) raise_shared(flag, 1u);
        }
        return 0;
    }
    KRYLITH_HD static part_type join(part_type, part_type) { return 0; }
    KRYLITH_HD bool finish(std::int64_t, part_type) const { return false; }

    [[nodiscard]] KRYLITH_HD static std::uint32_t flag_of(float value) {
        std::uint32_t h = bits_of_float(value);
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        return h >> 22;
    }
};

/// The values of flag_of() are below it.
inline constexpr std::size_t value_flags = 1024;

} // namespace krylith::aggregation
