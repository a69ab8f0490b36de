// The step that finds rows whose entries have no smoothness.
#pragma once

#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::classical {

using aggregation::rank_rows;

/// One row in so many of a matrix, drawn from each run of so many rows: the same rows whatever rank
/// has them.
struct sampled_rows {
    std::int64_t first;  ///< row of the rank
    std::uint32_t apart; ///< a power of two

    /// The runs that the rows of the rank touch.
    [[nodiscard]] std::int64_t count(std::int64_t rows) const {
        return rows == 0 ? 0 : (first + rows - 1) / apart - first / apart + 1;
    }
    /// The row that is drawn from a run, as one of the rank, which may not have it.
    [[nodiscard]] KRYLITH_HD std::int64_t row(std::int64_t item) const {
        const std::int64_t run = first / apart + item;
        const std::uint32_t drawn = aggregation::key_of(static_cast<std::uint32_t>(run), 0);
        return run * apart + (drawn & (apart - 1)) - first;
    }
};

/// Counts rough rows of a sample. A row is rough where aggregates grow along an entry, a_ij of at
/// least theta times the diagonal, that is none of its strong ones, -a_ij v_j / v_i being less than
/// a quarter of the largest, and that has no other of nearly its size beside it, as the couplings
/// of a stretched grid have one on the other side: edges of networks and coefficients that differ
/// from cell to cell. Rows with a large positive entry, as stretched elements have, are counted
/// too; and, as signs of jumps, rows with a neighbour where v is more than twice as large or small,
/// and rows with an entry that is less than a quarter of their largest.
template <class T>
struct rough_rows_step {
    rank_rows a;
    const T* values;
    const T* v; ///< [local columns]
    T least;    ///< theta times the diagonal, which is constant
    sampled_rows sample;
    /// Rough rows, those with a large positive entry, all with neighbours, those where v jumps, and
    /// those whose entries differ.
    unsigned long long* counts;

    /// Longer rows are none: each entry is compared with each.
    static constexpr std::int64_t longest = 64;

    static constexpr bool of_pairs = true;
    static constexpr std::uint32_t rough = 1;
    static constexpr std::uint32_t positive = 2;
    static constexpr std::uint32_t coupled = 4; ///< it has neighbours
    static constexpr std::uint32_t jumps = 8;
    static constexpr std::uint32_t differs = 16;
    static constexpr int kinds = 5;
    using part_type = std::uint32_t; ///< what the row is
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t item) const {
        const std::int64_t row = sample.row(item);
        return row >= 0 && row < a.rows;
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t item, int lane, int lanes) const {
        const std::int64_t row = sample.row(item);
        const std::int64_t begin = a.offsets[row];
        const std::int64_t end = a.offsets[row + 1];
        const std::int32_t own = a.own(row);
        std::uint32_t found = 0;
        if (end - begin > longest) return coupled;
        T largest = 0;
        for (std::int64_t k = begin; k < end; ++k)
            if (const T influence = influence_of(k, own); influence > largest) largest = influence;
        if (largest > T(0)) found |= coupled;
        for (std::int64_t k = begin + lane; k < end; k += lanes) {
            const T influence = influence_of(k, own);
            if (-influence > largest / T(8)) found |= positive;
            if (influence > T(0) && influence < largest / T(4)) found |= differs;
            if (influence > T(0) && !alike_vectors(a.indices[k], own)) found |= jumps;
            if (!(-values[k] >= least) || !(influence > T(0)) || influence >= largest / T(4))
                continue;
            std::uint32_t alike = 0;
            for (std::int64_t other = begin; other < end; ++other) {
                const T of_other = influence_of(other, own);
                if (other != k && T(3) * of_other > T(2) * influence &&
                    T(2) * of_other < T(3) * influence)
                    ++alike;
            }
            if (alike == 0) found |= rough;
        }
        return found;
    }
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t other) {
        return one | other;
    }
    KRYLITH_HD bool finish(std::int64_t, std::uint32_t found) const {
        for (int kind = 0; kind < kinds; ++kind)
            if ((found >> kind & 1) != 0) add_shared(counts + kind, 1ull);
        return false;
    }

private:
    [[nodiscard]] KRYLITH_HD bool alike_vectors(std::int32_t j, std::int32_t own) const {
        const T there = v[j] < T(0) ? -v[j] : v[j];
        const T here = v[own] < T(0) ? -v[own] : v[own];
        return there <= T(2) * here && here <= T(2) * there;
    }
    [[nodiscard]] KRYLITH_HD T influence_of(std::int64_t k, std::int32_t own) const {
        const std::int32_t j = a.indices[k];
        return j == own ? T(0) : -values[k] * (v[j] / v[own]);
    }
};

} // namespace krylith::classical
