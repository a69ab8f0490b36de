// The triangles of each oriented edge, counted where they are found.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/shared_numbers.hpp>

namespace krylith {

/// For an edge u -> v: each w that both have an edge to makes a triangle. The two sorted lists are
/// merged.
struct count_triangles_task {
    const std::int64_t* offsets; ///< of oriented_edges
    const std::int32_t* sources;
    const std::int32_t* targets;
    std::int64_t* counts; ///< [vertices] of u, or of all three
    std::int64_t first_edge;
    bool of_all_three;

    KRYLITH_HD void operator()(std::int64_t item) const {
        const std::int32_t u = sources[first_edge + item];
        const std::int32_t v = targets[first_edge + item];
        std::int64_t of_u = offsets[u];
        std::int64_t of_v = offsets[v];
        const std::int64_t end_u = offsets[u + 1];
        const std::int64_t end_v = offsets[v + 1];
        std::int64_t found = 0;
        while (of_u < end_u && of_v < end_v) {
            const std::int32_t one = targets[of_u];
            const std::int32_t other = targets[of_v];
            if (one == other) {
                ++found;
                if (of_all_three) add_shared(counts + one, 1);
            }
            of_u += one <= other ? 1 : 0;
            of_v += other <= one ? 1 : 0;
        }
        if (found == 0) return;
        add_shared(counts + u, found);
        if (of_all_three) add_shared(counts + v, found);
    }
};

} // namespace krylith
