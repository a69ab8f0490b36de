// Steps that join aggregates in pairs: the couplings between aggregates, proposals and agreements.
#pragma once

#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// The aggregates that the aggregates of a rank are coupled with: for each of them 32 numbers, plus
/// 1, in a hash table, 0 where there is none, and then 32 sums. All 0 at first.
struct coupling_table {
    static constexpr int places = 32;
    std::int32_t first;    ///< the first aggregate of the rank
    std::int32_t count;    ///< of the rank
    std::int32_t* numbers; ///< [count][2][places]
    std::int32_t* crowded; ///< [count] 1 where an aggregate has more than `places` neighbours

    [[nodiscard]] KRYLITH_HD bool has(std::int32_t g) const {
        return g >= first && g - first < count;
    }
    KRYLITH_HD void add(std::int32_t g, std::int32_t other, std::int32_t coupling) const {
        std::int32_t* const numbers_of = numbers + std::int64_t{g - first} * (2 * places);
        const std::int32_t wanted = other + 1;
        auto place = (static_cast<std::uint32_t>(other) * 0x9e3779b9u) >> 27;
        for (int tried = 0; tried < places; ++tried, place = (place + 1) % places) {
            std::int32_t seen = load_shared(numbers_of + place);
            if (seen == 0) {
                seen = exchange_shared(numbers_of + place, 0, wanted);
                if (seen == 0) seen = wanted;
            }
            if (seen != wanted) continue;
            add_shared(numbers_of + places + place, coupling);
            return;
        }
        raise_shared(crowded + (g - first), 1);
    }
    /// The same for an `other` that g does not have yet, where no other thread adds to g.
    void add_alone(std::int32_t g, std::int32_t other, std::int32_t coupling) const {
        std::int32_t* const numbers_of = numbers + std::int64_t{g - first} * (2 * places);
        auto place = (static_cast<std::uint32_t>(other) * 0x9e3779b9u) >> 27;
        for (int tried = 0; tried < places; ++tried, place = (place + 1) % places) {
            if (numbers_of[place] != 0) continue;
            numbers_of[place] = other + 1;
            numbers_of[places + place] = coupling;
            return;
        }
        crowded[g - first] = 1;
    }
};

/// A coupling that belongs to an aggregate of another rank.
struct sent_coupling {
    std::int32_t aggregate;
    std::int32_t other;
    std::int32_t coupling;
};

/// Calls body(other aggregate, coupling) for the entries of a row, those of neighbours in a row
/// that are of one aggregate at once.
template <class Body>
KRYLITH_HD inline void each_other_aggregate(const rank_rows& a, const std::int32_t* aggregate,
                                            std::int64_t row, int lane, int lanes,
                                            const Body& body) {
    const std::int32_t g = aggregate[a.own(row)];
    std::int32_t pending = no_aggregate;
    std::int32_t sum = 0;
    a.each_strong(row, lane, lanes, [&](std::int32_t j, std::uint8_t coupling) {
        const std::int32_t h = aggregate[j];
        if (h == g || h == no_aggregate) return;
        if (h != pending) {
            if (pending != no_aggregate) body(pending, sum);
            pending = h;
            sum = 0;
        }
        sum += coupling;
    });
    if (pending != no_aggregate) body(pending, sum);
}

/// Adds up couplings of rows whose aggregates are the rank's own.
struct couple_step {
    /// Several lanes share a short row too, so that fewer atomics wait for each other.
    static constexpr int least_lanes = 4;

    rank_rows a;
    const std::int32_t* aggregate;
    coupling_table table;

    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t) { return one; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        return table.has(aggregate[a.own(row)]);
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t g = aggregate[a.own(row)];
        each_other_aggregate(a, aggregate, row, lane, lanes,
                             [&](std::int32_t h, std::int32_t sum) { table.add(g, h, sum); });
        return 0;
    }
    KRYLITH_HD bool finish(std::int64_t, std::uint32_t) const { return false; }
};

/// Counts couplings of rows whose aggregate is another rank's, or writes them where `sent` is not
/// null.
struct send_step {
    rank_rows a;
    const std::int32_t* aggregate;
    std::int32_t first; ///< of the aggregates of the other rank
    std::int32_t end;
    std::int32_t* count; ///< 0 before
    sent_coupling* sent;

    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t) { return one; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        const std::int32_t g = aggregate[a.own(row)];
        return g >= first && g < end;
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t g = aggregate[a.own(row)];
        each_other_aggregate(a, aggregate, row, lane, lanes, [&](std::int32_t h, std::int32_t sum) {
            const std::int32_t place = add_shared(count, 1);
            if (sent != nullptr) sent[place] = {g, h, sum};
        });
        return 0;
    }
    KRYLITH_HD bool finish(std::int64_t, std::uint32_t) const { return false; }
};

struct receive_step : writes_only {
    const sent_coupling* received;
    coupling_table table;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t k, std::uint32_t) const {
        table.add(received[k].aggregate, received[k].other, received[k].coupling);
        return false;
    }
};

/// Sets the partners of the rank's aggregates to none (-1). A crowded one, which is large already,
/// is its own.
struct begin_pairs_step : writes_only {
    coupling_table table;
    std::int32_t* partner; ///< of all aggregates
    std::int32_t* choice;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t i, std::uint32_t) const {
        const auto g = table.first + static_cast<std::int32_t>(i);
        partner[g] = table.crowded[i] != 0 ? g : no_aggregate;
        choice[g] = no_aggregate;
        return false;
    }
};

/// The free aggregate with which one is coupled most.
struct offer {
    unsigned long long key = 0; ///< the sum, and below it pair_key
    std::int32_t other = no_aggregate;
    std::int32_t unused = 0;

    KRYLITH_HD static offer join(const offer& one, const offer& other) {
        if (one.key != other.key) return one.key > other.key ? one : other;
        if (one.other < 0) return other;
        return other.other >= 0 && other.other < one.other ? other : one;
    }
};

/// Each free aggregate of the rank chooses; lanes share its places. It stays in the list as long as
/// there is one to choose: neighbours that are not free don't become so again.
struct choose_step {
    coupling_table table;
    const std::int32_t* partner;
    std::int32_t* choice;

    using part_type = offer;
    KRYLITH_HD static offer join(const offer& one, const offer& other) {
        return offer::join(one, other);
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t i) const {
        return partner[table.first + i] < 0;
    }
    [[nodiscard]] KRYLITH_HD offer part(std::int64_t i, int lane, int lanes) const {
        const std::int32_t* const numbers = table.numbers + i * (2 * coupling_table::places);
        const auto g = table.first + static_cast<std::int32_t>(i);
        offer best;
        for (int place = lane; place < coupling_table::places; place += lanes) {
            const auto sum = static_cast<std::uint32_t>(numbers[coupling_table::places + place]);
            if (sum < best.key >> 32) continue; // before loads of what others are
            const std::int32_t h = numbers[place] - 1;
            if (h < 0 || partner[h] >= 0) continue;
            offer next;
            next.key = (static_cast<unsigned long long>(sum) << 32) | pair_key(g, h);
            next.other = h;
            best = offer::join(best, next);
        }
        return best;
    }
    KRYLITH_HD bool finish(std::int64_t i, const offer& best) const {
        choice[table.first + i] = best.other;
        return best.other >= 0;
    }
};

/// Aggregates that chose each other are pairs. All ranks visit all aggregates.
struct agree_step : writes_only {
    const std::int32_t* choice;
    std::int32_t* partner;
    std::int32_t* found; ///< set to 1 where there is a new pair

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t g) const { return partner[g] < 0; }
    KRYLITH_HD bool finish(std::int64_t g, std::uint32_t) const {
        const std::int32_t other = choice[g];
        if (other < 0 || choice[other] != g) return false;
        partner[g] = other;
        if (load_shared(found) == 0) raise_shared(found, 1);
        return false;
    }
};

/// Whether an aggregate gives its pair the number; for add_up_sizes.
struct leads_pair {
    const std::int32_t* partner;

    [[nodiscard]] KRYLITH_HD bool operator()(std::int64_t g) const {
        return partner[g] < 0 || partner[g] >= g;
    }
};

struct number_pairs_step : writes_only {
    const std::int32_t* partner;
    const std::int32_t* before; ///< of leads_pair
    std::int32_t* number;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t g, std::uint32_t) const {
        number[g] = before[leads_pair{partner}(g) ? g : partner[g]];
        return false;
    }
};

} // namespace krylith::aggregation
