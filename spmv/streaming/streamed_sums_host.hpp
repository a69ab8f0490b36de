// Sums of the entries of a part by host threads, straight from the arrays of the caller.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/csr/csr_rows_host.hpp>
#include <krylith/spmv/streaming/streamed_plan.hpp>

namespace krylith::host {

/// Where the entries of a line of the share begin; line may be share.end_line. O(1), O(log entries)
/// of COO.
template <class T>
[[nodiscard]] std::int64_t line_begin(const one_shot_matrix<T>& a, const line_share& share,
                                      std::int64_t line) {
    if (compressed(a.form))
        return share.start_idx +
               part_offset(a.offsets[as_size(line)], share.start_idx, share.end_idx);
    const auto lines = a.line_indices().subspan(as_size(share.start_idx), as_size(share.entries()));
    return share.start_idx + (std::ranges::lower_bound(lines, line) - lines.begin());
}

/// sums[i] of row share.start_line + i. Threads take about equal entries each; rows are whole.
template <class T>
void sum_rows(const one_shot_matrix<T>& a, const line_share& share, const T* x, T* sums,
              int threads) {
    constexpr std::int64_t worth_a_thread = 16384;
    const std::int64_t work = share.entries() + share.lines();
    const auto team = static_cast<int>(std::clamp<std::int64_t>(work / worth_a_thread, 1, threads));
    in_team(team, [&](int member, int members) {
        // Rows before the first whose entries and rows before it are `wanted` or more.
        const auto border = [&](int number) {
            if (number == members) return share.end_line;
            const std::int64_t wanted = work / members * number;
            std::int64_t low = share.start_line;
            std::int64_t high = share.end_line;
            while (low < high) {
                const std::int64_t middle = low + (high - low) / 2;
                const std::int64_t before =
                    line_begin(a, share, middle) - share.start_idx + middle - share.start_line;
                if (before < wanted)
                    low = middle + 1;
                else
                    high = middle;
            }
            return low;
        };
        const std::int64_t end = border(member + 1);
        std::int64_t line = border(member);
        if (line >= end) return;
        std::int64_t entry = line_begin(a, share, line);
        for (; line < end; ++line) {
            std::int64_t next = entry;
            if (compressed(a.form))
                next = line_begin(a, share, line + 1);
            else
                while (next < share.end_idx && a.row_indices[as_size(next)] == line) ++next;
            sums[line - share.start_line] = row_product(a.column_indices.data() + entry,
                                                        a.values.data() + entry, x, next - entry);
            entry = next;
        }
    });
}

/// sums[i] of every row i, by one thread: entries in their order.
template <class T>
void sum_entries(const one_shot_matrix<T>& a, const line_share& share, const T* x, T* sums) {
    std::fill_n(sums, a.rows, T{});
    const auto add = [&](std::int64_t k, std::int64_t column) {
        sums[a.row_indices[as_size(k)]] += a.values[as_size(k)] * x[column];
    };
    if (!compressed(a.form)) {
        for (std::int64_t k = share.start_idx; k < share.end_idx; ++k)
            add(k, a.column_indices[as_size(k)]);
        return;
    }
    std::int64_t k = share.start_idx;
    for (std::int64_t column = share.start_line; column < share.end_line; ++column)
        for (const std::int64_t end = line_begin(a, share, column + 1); k < end; ++k)
            add(k, column);
}

} // namespace krylith::host
