// Transposition of compressed arrays by host threads, in the way that their sizes ask for.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <krylith/matrix/compressed/block_transposition.hpp>
#include <krylith/matrix/compressed/scan_transposition.hpp>

namespace krylith {

/// How a matrix is transposed, and by how many threads.
struct transposition_plan {
    bool in_blocks = false; ///< block_transposition.hpp, else scan_transposition.hpp
    int parts = 1;
};

/// Plans by sizes and, where the result is larger than caches, by a sample of the columns. O(1).
[[nodiscard]] transposition_plan plan_transposition(const compressed_pattern& a, int threads);

/// Transposes by `plan`, but not in blocks where one of them has most of the entries. Calls load(k)
/// for each entry k and put(place, major, load) of what that returned, on several threads, each
/// entry and each place once; the entries of a column come in ascending order of k. Writes the
/// a.across + 1 offsets. The result is the same for any plan.
template <class Load, class LoadEntry, class Put>
void transpose_entries(const compressed_pattern& a, std::span<std::int64_t> result_offsets,
                       const transposition_plan& plan, const LoadEntry& load, const Put& put) {
    if (plan.in_blocks) {
        const column_blocks cut(a, plan.parts);
        if (cut.largest() <= a.nonzeros() / (2 * plan.parts) + 65536)
            return transpose_in_blocks<Load>(a, cut, result_offsets, plan.parts, load, put);
    }
    const auto by_places = [&](auto places) {
        places.for_each_place([&](std::int64_t place, std::int64_t major, std::int64_t k) {
            put(place, major, load(k));
        });
    };
    if (a.nonzeros() <= std::int64_t{std::numeric_limits<std::uint32_t>::max()})
        by_places(scan_transposition<std::uint32_t>(a, result_offsets, plan.parts));
    else
        by_places(scan_transposition<std::int64_t>(a, result_offsets, plan.parts));
}

} // namespace krylith
