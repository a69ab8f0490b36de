#include <krylith/distributed/source/joined_rows.hpp>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>

namespace krylith {

namespace {

/// Appends a segment, or extends the last one where the rows follow it in the matrix and may be
/// `joined`.
void append(joined_rows& to, row_range rows, const row_starts& starts, bool joined = true) {
    if (joined && !to.segments.empty() && to.segments.back().rows.end == rows.begin) {
        row_segment& last = to.segments.back();
        last.rows.end = rows.end;
        last.nonzeros.end = starts[rows.end];
        to.size = last.begin + last.rows.size();
        return;
    }
    // Where boundaries are aligned at all, only the end of the matrix lies within a warp.
    if (!to.segments.empty() && to.segments.back().rows.end == starts.rows())
        to.size = (to.size + slice_rows - 1) / slice_rows * slice_rows;
    to.segments.push_back({to.size, rows, {starts[rows.begin], starts[rows.end]}});
    to.size += rows.size();
}

} // namespace

std::int64_t joined_rows::nonzeros() const {
    std::int64_t count = 0;
    for (const row_segment& s : segments) count += s.nonzeros.size();
    return count;
}

joined_rows join_rows(const block_partition& partition, int part, const row_starts& starts) {
    const local_blocks& mine = partition.local.at(static_cast<std::size_t>(part));
    joined_rows result;
    for (const staged_rows& range : mine.ranges) append(result, range.rows, starts);
    if (partition.redundant.size() == 0) {
        if (result.segments.empty()) append(result, {0, 0}, starts);
        if (result.consecutive()) return result;
    }
    row_map& map = result.map;
    if (partition.redundant.size() != 0) {
        append(result, partition.redundant, starts, false);
        check_index_size("make_device_matrix: the number of rows of a device", result.size);
        map.alone = static_cast<std::int32_t>(result.segments.back().begin);
        map.counted_begin = mine.counted.begin;
        map.counted_end = mine.counted.end;
    }
    check_index_size("make_device_matrix: the number of rows of a device", result.size);
    map.rows = partition.rows;
    for (const row_segment& s : result.segments) {
        map.begin[map.count] = static_cast<std::int32_t>(s.begin);
        map.shift[map.count] = s.rows.begin - s.begin;
        ++map.count;
    }
    return result;
}

joined_rows lone_rows(row_range rows, const row_starts& starts) {
    joined_rows result;
    append(result, rows, starts);
    return result;
}

template <class V>
std::vector<V> join_entries(const joined_rows& rows, std::span<const V> of_matrix) {
    std::vector<V> result;
    resize_in_parallel(result, static_cast<std::size_t>(rows.nonzeros()));
    std::int64_t next = 0;
    for (const row_segment& s : rows.segments) {
        const V* const from = of_matrix.data() + s.nonzeros.begin;
        V* const to = result.data() + next;
        const std::int64_t count = s.nonzeros.size();
#pragma omp parallel for
        for (std::int64_t k = 0; k < count; ++k) to[k] = from[k];
        next += count;
    }
    return result;
}

std::vector<std::int64_t> join_offsets(const joined_rows& rows,
                                       std::span<const std::int64_t> row_offsets) {
    std::vector<std::int64_t> result;
    result.reserve(static_cast<std::size_t>(rows.size) + 1);
    std::int64_t nonzeros = 0;
    for (const row_segment& s : rows.segments) {
        result.resize(static_cast<std::size_t>(s.begin), nonzeros); // rows of padding are empty
        const std::int64_t* const from = row_offsets.data() + s.rows.begin;
        for (std::int64_t row = 0; row < s.rows.size(); ++row)
            result.push_back(nonzeros + from[row] - from[0]);
        nonzeros += s.nonzeros.size();
    }
    result.resize(static_cast<std::size_t>(rows.size) + 1, nonzeros);
    return result;
}

template std::vector<std::int32_t> join_entries(const joined_rows&, std::span<const std::int32_t>);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<T> join_entries(const joined_rows&, std::span<const T>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
