// Sums of the entries of a part by host threads, straight from the arrays of the caller.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/csr/csr_rows_host.hpp>
#include <krylith/spmv/streaming/streamed_plan.hpp>

namespace krylith::host {

/// Returns the place where the entries of a major index of the range begin; it may be end_major.
/// O(1), O(log entries) of COO.
template <class T>
[[nodiscard]] std::int64_t major_begin(const streamed_matrix<T>& a, const major_range& range,
                                       std::int64_t major) {
    if (compressed(a.form))
        return range.start_idx +
               range_offset(a.offsets[as_size(major)], range.start_idx, range.end_idx);
    const auto major_size =
        a.major_indices().subspan(as_size(range.start_idx), as_size(range.entries()));
    return range.start_idx + (std::ranges::lower_bound(major_size, major) - major_size.begin());
}

/// sums[i] of row start_major + i. Threads take about equal entries each; rows are whole.
template <class T>
void sum_rows(const streamed_matrix<T>& a, const major_range& range, const T* x, T* sums,
              int threads) {
    constexpr std::int64_t worth_a_thread = 16384;
    const std::int64_t work = range.entries() + range.majors();
    const auto team = static_cast<int>(std::clamp<std::int64_t>(work / worth_a_thread, 1, threads));
    in_team(team, [&](int thread, int team) {
        // Rows before the first whose entries and rows before it are `wanted` or more.
        const auto border = [&](int number) {
            if (number == team) return range.end_major;
            const std::int64_t wanted = work / team * number;
            std::int64_t low = range.start_major;
            std::int64_t high = range.end_major;
            while (low < high) {
                const std::int64_t middle = low + (high - low) / 2;
                const std::int64_t before =
                    major_begin(a, range, middle) - range.start_idx + middle - range.start_major;
                if (before < wanted)
                    low = middle + 1;
                else
                    high = middle;
            }
            return low;
        };
        const std::int64_t end = border(thread + 1);
        std::int64_t major = border(thread);
        if (major >= end) return;
        std::int64_t entry = major_begin(a, range, major);
        for (; major < end; ++major) {
            std::int64_t next = entry;
            if (compressed(a.form))
                next = major_begin(a, range, major + 1);
            else
                while (next < range.end_idx && a.row_indices[as_size(next)] == major) ++next;
            sums[major - range.start_major] = row_product(a.column_indices.data() + entry,
                                                          a.values.data() + entry, x, next - entry);
            entry = next;
        }
    });
}

/// sums[i] of every row i, by one thread: entries in their order.
template <class T>
void sum_entries(const streamed_matrix<T>& a, const major_range& range, const T* x, T* sums) {
    std::fill_n(sums, a.rows, T{});
    const auto add = [&](std::int64_t k, std::int64_t column) {
        sums[a.row_indices[as_size(k)]] += a.values[as_size(k)] * x[column];
    };
    if (!compressed(a.form)) {
        for (std::int64_t k = range.start_idx; k < range.end_idx; ++k)
            add(k, a.column_indices[as_size(k)]);
        return;
    }
    std::int64_t k = range.start_idx;
    for (std::int64_t column = range.start_major; column < range.end_major; ++column)
        for (const std::int64_t end = major_begin(a, range, column + 1); k < end; ++k)
            add(k, column);
}

} // namespace krylith::host
