// The rounds of a maximal independent set of distance 2, and what lies between two sets.
//
// A round has two halves (Kelley, Rajamanickam, Parallel, portable algorithms for distance-2
// maximal independent set and graph coarsening, 2204.02934). First each row takes the largest key
// of itself and its neighbours; then an undecided row compares its own key with what its neighbours
// took. Rows for which nothing can change leave the list of their half.
#pragma once

#include <cstdint>

#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

struct joins_largest {
    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t other) {
        return one > other ? one : other;
    }
};

/// Before the first round: what each row says to its neighbours.
struct begin_set_step : joins_largest {
    rank_rows a;
    const std::uint8_t* state;
    std::uint32_t* key; ///< [local columns] of undecided rows; no_key, or root_near for roots
    std::uint32_t round;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t, int, int) const { return 0; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t own = a.own(row);
        key[own] = state[own] == undecided
                       ? key_of(static_cast<std::uint32_t>(a.columns.global(own)), round)
                       : no_key;
        return false;
    }
};

/// The first half.
struct largest_key_step : joins_largest {
    rank_rows a;
    const std::uint8_t* state; ///< of the row itself
    const std::uint32_t* key;
    std::uint32_t* nearest;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        if (state[own] > left) return no_key; // takes no part
        return a.largest_of(key, row, lane, lanes, key[own]);
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t most) const {
        nearest[a.own(row)] = most;
        return most != no_key && most != root_near;
    }
};

/// The second half, which also gives the keys of the next round.
struct decide_step : joins_largest {
    rank_rows a;
    const std::uint32_t* nearest;
    std::uint8_t* state;
    std::uint32_t* key;
    std::uint32_t round;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        return state[a.own(row)] == undecided;
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int lanes) const {
        return a.largest_of(nearest, row, lane, lanes, nearest[a.own(row)]);
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t most) const {
        const std::int32_t own = a.own(row);
        if (most == root_near) {
            state[own] = out;
            key[own] = no_key;
            return false;
        }
        if (most == key[own]) {
            state[own] = root;
            key[own] = root_near;
            return false;
        }
        key[own] = key_of(static_cast<std::uint32_t>(a.columns.global(own)), round + 1);
        return true;
    }
};

/// After the first set: which rows have no root beside them.
struct left_step : joins_largest {
    rank_rows a;
    const std::uint8_t* state;
    const std::uint32_t* nearest;
    std::uint8_t* next_state;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        if (state[own] == isolated || state[own] == root) return 0;
        if (nearest[own] == root_near) return 1;
        std::uint32_t beside = 0;
        a.each_strong(row, lane, lanes, [&](std::int32_t j, std::uint8_t) {
            if (state[j] == root) beside = 1;
        });
        return beside;
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t beside) const {
        const std::int32_t own = a.own(row);
        const std::uint8_t s = state[own];
        next_state[own] = s;
        if (s == root)
            next_state[own] = first_root;
        else if (s != isolated)
            next_state[own] = beside != 0 ? joined : left;
        return false;
    }
};

/// Before the second set: rows with two neighbours that are left may be its roots.
struct candidate_step {
    rank_rows a;
    const std::uint8_t* state;
    std::uint8_t* next_state;

    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t other) {
        return one + other;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int lanes) const {
        std::uint32_t count = 0;
        if (state[a.own(row)] != left) return count;
        a.each_strong(row, lane, lanes, [&](std::int32_t j, std::uint8_t) {
            if (state[j] == left) ++count;
        });
        return count;
    }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t count) const {
        const std::int32_t own = a.own(row);
        next_state[own] = state[own];
        if (count >= 2) next_state[own] = undecided;
        return false;
    }
};

} // namespace krylith::aggregation
