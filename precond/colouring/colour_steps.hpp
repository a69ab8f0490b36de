// Steps that colour rows (device/loops/visit_rows.hpp has what a step is).
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/device.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::colouring {

inline constexpr std::int32_t uncoloured = -1;

/// Sums of rows are spread over so many counters, since additions to one address follow one
/// another.
inline constexpr std::int64_t mirror_counters = 1024;

/// A number by an entry: two rounds of the finaliser of SplitMix64.
[[nodiscard]] KRYLITH_HD inline unsigned long long entry_hash(std::int64_t row,
                                                              std::int64_t column) {
    const auto i = static_cast<unsigned long long>(row);
    const auto j = static_cast<unsigned long long>(column);
    unsigned long long h = (i << 32) + j + 0x9e3779b97f4a7c15ull;
    h += (i >> 32) * 0xd6e8feb86659fd93ull + (j >> 32) * 0xa0761d6478bd642full;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
}

/// Adds up hash(i, j) - hash(j, i) modulo 2^64 over all entries: 0 for a symmetric pattern, and for
/// another one with a probability of 2^-64.
struct mirror_sum_step {
    aggregation::rank_rows a;
    unsigned long long* sums; ///< [mirror_counters]

    using part_type = unsigned long long;
    KRYLITH_HD static part_type join(part_type one, part_type other) { return one + other; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        const std::int64_t i = a.columns.global(a.own(row));
        part_type sum = 0;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes) {
            const std::int64_t j = a.columns.global(a.indices[k]);
            sum += entry_hash(i, j) - entry_hash(j, i);
        }
        return sum;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type sum) const {
        add_shared(sums + row % mirror_counters, sum);
        return false;
    }
};

/// Takes the colours of all columns.
struct uncolour_step : writes_only {
    std::int32_t* colour;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t column, std::uint32_t) const {
        colour[column] = uncoloured;
        return false;
    }
};

/// Gives a row the least colour that no neighbour has, once all neighbours with larger keys have
/// colours. What comes out is a function of the keys alone, whenever neighbours' colours are seen.
struct colour_step {
    aggregation::rank_rows a;
    std::int32_t* colour;   ///< [local columns]
    std::int32_t* least;    ///< [rows] the first of the 64 colours that are looked at
    std::uint32_t* colours; ///< one more than the largest colour

    struct part_type {
        std::uint64_t taken = 0; ///< bits of colours from least[row] on
        std::uint32_t waits = 0; ///< whether a neighbour with a larger key has no colour
        std::uint32_t unused = 0;
    };
    KRYLITH_HD static part_type join(part_type one, part_type other) {
        return {one.taken | other.taken, one.waits | other.waits, 0};
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        const std::uint32_t key = key_of_column(own);
        const std::int32_t from = least[row];
        part_type seen;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes) {
            const std::int32_t j = a.indices[k];
            if (j == own) continue;
            const std::int32_t other = load_shared(colour + j);
            if (other == uncoloured) {
                if (key_of_column(j) < key) continue;
                seen.waits = 1;
                break;
            }
            const std::int32_t bit = other - from;
            if (bit >= 0 && bit < 64) seen.taken |= std::uint64_t{1} << bit;
        }
        return seen;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type seen) const {
        if (seen.waits != 0) return true;
        if (~seen.taken == 0) {
            least[row] += 64;
            return true;
        }
        std::int32_t bit = 0;
        while ((seen.taken >> bit & 1) != 0) ++bit;
        const std::int32_t chosen = least[row] + bit;
        exchange_shared(colour + a.own(row), uncoloured, chosen);
        if (load_shared(colours) <= static_cast<std::uint32_t>(chosen))
            raise_shared(colours, static_cast<std::uint32_t>(chosen) + 1);
        return false;
    }

private:
    [[nodiscard]] KRYLITH_HD std::uint32_t key_of_column(std::int32_t local) const {
        return aggregation::key_of(static_cast<std::uint32_t>(a.columns.global(local)), 0);
    }
};

namespace cuda {
/// Enqueues the rows of each colour, ascending, colour by colour: order[begin[c]] is the first of
/// colour c, begin[0] = 0 and begin[count] = rows.
void list_colours(const std::shared_ptr<device>& device, std::int64_t rows,
                  const std::int32_t* colour, std::int32_t count, std::int64_t* begin,
                  std::int32_t* order);
} // namespace cuda

} // namespace krylith::colouring
