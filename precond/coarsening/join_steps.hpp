// Steps by which rows get the numbers of aggregates.
#pragma once

#include <cstdint>

#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// Whether a row is a root; for add_up_sizes.
struct is_root {
    const std::uint8_t* state; ///< of owned rows

    [[nodiscard]] KRYLITH_HD bool operator()(std::int64_t row) const {
        return state[row] == root || state[row] == first_root;
    }
};

/// Numbers roots: those of the rank from `first` on. Other rows have no aggregate yet.
struct number_roots_step {
    rank_rows a;
    const std::uint8_t* state;
    const std::int32_t* before; ///< roots of the rank before each row
    std::int32_t first;
    std::int32_t* aggregate;
    std::int32_t* next_aggregate; ///< gets the same

    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t) { return one; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t, int, int) const { return 0; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t own = a.own(row);
        const bool leads = state[own] == root || state[own] == first_root;
        aggregate[own] = next_aggregate[own] = leads ? first + before[row] : no_aggregate;
        return false;
    }
};

/// Neighbours of roots join them: those of roots of the first set these, others those of the
/// second. It writes rows that are no roots and reads roots. Rows that find none stay.
struct join_root_step {
    rank_rows a;
    const std::uint8_t* state;
    std::int32_t* aggregate;
    std::int32_t* next_aggregate; ///< gets the same

    using part_type = std::int32_t; ///< the lowest local column of a root
    static constexpr std::int32_t none = 0x7fffffff;
    KRYLITH_HD static std::int32_t join(std::int32_t one, std::int32_t other) {
        return one < other ? one : other;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        const std::uint8_t s = state[a.own(row)];
        return s == joined || s == left || s == out;
    }
    [[nodiscard]] KRYLITH_HD std::int32_t part(std::int64_t row, int lane, int lanes) const {
        const std::uint8_t looks_for = state[a.own(row)] == joined ? first_root : root;
        std::int32_t lowest = none;
        a.each_strong(row, lane, lanes, [&](std::int32_t j, std::uint8_t) {
            if (state[j] == looks_for && j < lowest) lowest = j;
        });
        return lowest;
    }
    KRYLITH_HD bool finish(std::int64_t row, std::int32_t lowest) const {
        if (lowest == none) return true;
        const std::int32_t own = a.own(row);
        aggregate[own] = next_aggregate[own] = aggregate[lowest];
        return false;
    }
};

/// The rest joins the aggregate with the largest summed coupling, the lower one of equals.
struct join_strongest_step {
    rank_rows a;
    const std::int32_t* aggregate;
    std::int32_t* next_aggregate;

    static constexpr bool of_pairs = true;
    using part_type = unsigned long long; ///< the sum, and below it the lower number the larger
    KRYLITH_HD static unsigned long long join(unsigned long long one, unsigned long long other) {
        return one > other ? one : other;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD unsigned long long part(std::int64_t row, int lane, int lanes) const {
        unsigned long long best = 0;
#ifndef __CUDA_ARCH__
        if (add_up(row, best)) return best;
        best = 0;
#else
        const std::int64_t begin = a.offsets[row];
        const std::int64_t count = a.offsets[row + 1] - begin;
        // A whole warp calls this for one row: each lane has an entry, and asks the others.
        if (lanes == 32 && count <= 32) {
            std::int32_t own = no_aggregate;
            unsigned coupling = 0;
            if (lane < count && is_strong(a.couplings[begin + lane]))
                coupling = a.couplings[begin + lane];
            if (coupling != 0) own = aggregate[a.indices[begin + lane]];
            unsigned sum = 0;
            for (int i = 0; i < count; ++i) {
                const unsigned term = __shfl_sync(0xffffffffu, coupling, i);
                sum += __shfl_sync(0xffffffffu, own, i) == own ? term : 0;
            }
            return own == no_aggregate ? best : strength_of(sum, own);
        }
#endif
        a.each_strong<1>(row, lane, lanes, [&](std::int32_t j, std::uint8_t) {
            const std::int32_t g = aggregate[j];
            if (g == no_aggregate) return;
            unsigned long long sum = 0;
            a.each_strong(row, 0, 1, [&](std::int32_t other, std::uint8_t coupling) {
                sum += aggregate[other] == g ? coupling : 0;
            });
            best = join(best, strength_of(sum, g));
        });
        return best;
    }
    /// Finds the best of few aggregates in one pass over the row, on hosts. Returns false where
    /// there are more.
    [[nodiscard]] bool add_up(std::int64_t row, unsigned long long& best) const {
        constexpr int few = 16;
        std::int32_t known[few]{};
        unsigned long long sums[few];
        int count = 0;
        bool all = true;
        a.each_strong(row, 0, 1, [&](std::int32_t j, std::uint8_t coupling) {
            const std::int32_t g = aggregate[j];
            if (g == no_aggregate) return;
            int place = 0;
            while (place < count && known[place] != g) ++place;
            if (place == few) {
                all = false;
                return;
            }
            if (place == count) {
                known[count] = g;
                sums[count++] = 0;
            }
            sums[place] += coupling;
        });
        for (int i = 0; i < count; ++i) best = join(best, strength_of(sums[i], known[i]));
        return all;
    }
    [[nodiscard]] KRYLITH_HD static unsigned long long strength_of(unsigned long long sum,
                                                                   std::int32_t of) {
        return (sum << 32) | (0xffffffffu - static_cast<std::uint32_t>(of));
    }
    KRYLITH_HD bool finish(std::int64_t row, unsigned long long best) const {
        if (best != 0)
            next_aggregate[a.own(row)] =
                static_cast<std::int32_t>(0xffffffffu - static_cast<std::uint32_t>(best));
        return false;
    }
};

/// Gives rows and ghosts the numbers of the pairs of their aggregates.
struct renumber_step {
    const std::int32_t* number; ///< of each aggregate
    std::int32_t* aggregate;    ///< [local columns]

    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t) { return one; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t, int, int) const { return 0; }
    KRYLITH_HD bool finish(std::int64_t column, std::uint32_t) const {
        const std::int32_t g = aggregate[column];
        if (g != no_aggregate) aggregate[column] = number[g];
        return false;
    }
};

} // namespace krylith::aggregation
