// Steps that cut rows of a prolongation to their largest entries.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::classical {

using aggregation::rank_rows;

/// So many entries of a row of P stay.
inline constexpr int kept_entries = 4;

/// The largest shares p_ij v_j of a row, and the sum of all.
struct row_shares {
    double all = 0;
    double kept = 0; ///< those that are known to stay
    double size[kept_entries] = {};
    std::int32_t place[kept_entries] = {-1, -1, -1, -1}; ///< in the row; -1: none

    /// Of equal ones the first entry of the row is taken.
    KRYLITH_HD void add(double of_size, std::int32_t of_place) {
        for (int i = 0; i < kept_entries; ++i) {
            const bool before = of_place >= 0 && (place[i] < 0 || of_size > size[i] ||
                                                  (of_size == size[i] && of_place < place[i]));
            if (!before) continue;
            const double size_there = size[i];
            const std::int32_t place_there = place[i];
            size[i] = of_size;
            place[i] = of_place;
            of_size = size_there;
            of_place = place_there;
        }
    }
    [[nodiscard]] KRYLITH_HD bool has(std::int32_t entry) const {
        bool found = false;
        for (const std::int32_t one : place) found = found || one == entry;
        return found;
    }
    KRYLITH_HD static row_shares join(row_shares one, const row_shares& other) {
        one.all += other.all;
        one.kept += other.kept;
        for (int i = 0; i < kept_entries; ++i) one.add(other.size[i], other.place[i]);
        return one;
    }
};

/// Finds the largest entries of rows of P, by |p_ij v_j|, and what they are multiplied by so that
/// P v stays.
template <class T>
struct truncate_step {
    rank_rows p;
    const T* values;
    const T* v;           ///< [local columns] of P
    bool refresh;         ///< which entries stay is known
    std::uint8_t* kept;   ///< [nonzeros]
    T* factor;            ///< [rows]
    std::int32_t* counts; ///< [rows]

    using part_type = row_shares;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD row_shares part(std::int64_t row, int lane, int lanes) const {
        row_shares found;
        const std::int64_t begin = p.offsets[row];
        for (std::int64_t k = begin + lane; k < p.offsets[row + 1]; k += lanes) {
            found.all = with_share(found.all, k);
            if (!refresh)
                found.add(std::fabs(with_share(0, k)), static_cast<std::int32_t>(k - begin));
            else if (kept[k] != 0)
                found.kept = with_share(found.kept, k);
        }
        return found;
    }
    KRYLITH_HD static row_shares join(const row_shares& one, const row_shares& other) {
        return row_shares::join(one, other);
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_shares& found) const {
        const std::int64_t begin = p.offsets[row];
        const auto length = static_cast<std::int32_t>(p.offsets[row + 1] - begin);
        double sum = found.kept;
        if (!refresh) {
            for (std::int32_t i = 0; i < length; ++i) {
                const bool stays = found.has(i);
                kept[begin + i] = stays ? 1 : 0;
                if (stays) sum = with_share(sum, begin + i);
            }
            counts[row] = length < kept_entries ? length : kept_entries;
        }
        constexpr double most = 1e3; // shares of both signs may nearly cancel
        const double quotient = sum != 0 ? found.all / sum : 1;
        factor[row] = static_cast<T>(quotient > 0 && quotient <= most ? quotient : 1);
        return false;
    }

private:
    /// Rounded twice, so that a refresh has the bits of the first time.
    [[nodiscard]] KRYLITH_HD double with_share(double sum, std::int64_t k) const {
        return plus_product(sum, static_cast<double>(values[k]),
                            static_cast<double>(v[p.indices[k]]));
    }
};

/// The rows of P without the others.
template <class T>
struct fill_truncated_step : writes_only {
    rank_rows p;
    const T* values;
    const std::uint8_t* kept;
    const T* factor;
    const std::int64_t* offsets;
    std::int32_t* columns; ///< null: they are there
    T* to;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        std::int64_t at = offsets[row];
        for (std::int64_t k = p.offsets[row]; k < p.offsets[row + 1]; ++k) {
            if (kept[k] == 0) continue;
            if (columns != nullptr) columns[at] = p.indices[k];
            to[at++] = factor[row] * values[k];
        }
        return false;
    }
};

} // namespace krylith::classical
