// Partial results of parts, put together on the host by one thread.
#pragma once

#include <span>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/streaming/streamed_device.hpp>

namespace krylith {

/// sums[k] is what part k has: its rows, or all. y = alpha (their sum, in the order of parts)
/// + beta y. O(rows), times parts unless by rows. Pieces is 1.
template <class T>
void merge_on_host(const streamed_call<T>& call, std::span<const std::span<const T>> sums) {
    const streamed_plan& plan = call.plan;
    const auto store = [&](std::int64_t row, T sum) {
        T& to = call.y[as_size(row)];
        to = call.beta == T{0} ? call.alpha * sum : call.alpha * sum + call.beta * to;
    };
    if (!by_rows(plan.form)) {
        for (std::int64_t i = 0; i < call.a.rows; ++i) {
            T sum = sums[0][as_size(i)];
            for (std::size_t k = 1; k < sums.size(); ++k) sum += sums[k][as_size(i)];
            store(i, sum);
        }
        return;
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const major_range& majors = plan.major_ranges[k];
        const row_range rows = majors.owned();
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            T sum = sums[k][as_size(i - majors.start_major)];
            if (i + 1 == rows.end)
                for (std::size_t j = k + 1; j <= as_size(plan.last[k]); ++j)
                    if (plan.major_ranges[j].entries() > 0) sum += sums[j].front();
            store(i, sum);
        }
    }
}

} // namespace krylith
