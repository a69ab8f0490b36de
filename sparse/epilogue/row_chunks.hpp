// The rows of a block by what becomes of their results, as a row_map says it.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/sparse/device_matrix/row_map.hpp>

namespace krylith::host {

/// Rows of a block that are consecutive in y, and all sent or not, counted or not.
struct row_chunk {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t shift; ///< row i of the block is row i + shift of y
    bool sent;
    bool counted;
};

/// Calls body(rows) for the row chunks of [begin, end), padding left out.
template <class Body>
void for_row_chunks(const row_map& map, std::int64_t begin, std::int64_t end, const Body& body) {
    if (map.count == 0) return body(row_chunk{begin, end, 0, true, true});
    for (int s = 0; s < map.count; ++s) {
        const bool last = s + 1 == map.count;
        const std::int64_t shift = map.shift[s];
        const std::int64_t from = std::max<std::int64_t>(begin, map.begin[s]);
        const std::int64_t to =
            std::min({end, last ? end : std::int64_t{map.begin[s + 1]}, map.rows - shift});
        if (from >= to) continue;
        if (from < map.alone) {
            body(row_chunk{from, to, shift, true, true});
            continue;
        }
        const std::int64_t counted = std::clamp(map.counted_begin - shift, from, to);
        const std::int64_t after = std::clamp(map.counted_end - shift, counted, to);
        body(row_chunk{from, counted, shift, false, false});
        body(row_chunk{counted, after, shift, false, true});
        body(row_chunk{after, to, shift, false, false});
    }
}

} // namespace krylith::host
