// The couplings between aggregates on hosts: aggregate by aggregate, so that no two threads add to
// the same one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/pair_steps.hpp>
#include <krylith/sparse/spgemm/column_sums.hpp>

namespace krylith::aggregation {

/// The rows of aggregates [first, end), one aggregate after the other.
class rows_of_aggregates {
public:
    /// `aggregate` is that of each row, local columns being those of `a`.
    rows_of_aggregates(const rank_rows& a, const std::int32_t* aggregate, std::int32_t first,
                       std::int32_t end)
        : begins_(as_size(end - first) + 1) {
        const auto each = [&](const auto& body) {
            for (std::int64_t row = 0; row < a.rows; ++row) {
                const std::int32_t g = aggregate[a.own(row)];
                if (g >= first && g < end) body(as_size(g - first), row);
            }
        };
        each([&](std::size_t g, std::int64_t) { ++begins_[g]; });
        std::int32_t sum = 0;
        for (std::int32_t& begin : begins_) begin = sum += begin; // the end of each
        rows_.resize(as_size(sum));
        each([&](std::size_t g, std::int64_t row) {
            rows_[as_size(--begins_[g])] = static_cast<std::int32_t>(row);
        });
    }

    template <class Body>
    void each_row(std::int32_t number, const Body& body) const {
        for (std::int32_t k = begins_[as_size(number)]; k < begins_[as_size(number) + 1]; ++k)
            body(std::int64_t{rows_[as_size(k)]});
    }

private:
    std::vector<std::int32_t> begins_;
    std::vector<std::int32_t> rows_;
};

/// Fills the table with what couple_step would for aggregates [first, end) of the rank's own, of
/// which no other thread has any. There are `aggregates` on all ranks.
inline void add_up_couplings(const rank_rows& a, const std::int32_t* aggregate,
                             const coupling_table& table, std::int32_t first, std::int32_t end,
                             std::int64_t aggregates) {
    const rows_of_aggregates rows(a, aggregate, first, end);
    krylith::host::column_sums<std::int32_t> sums(aggregates);
    for (std::int32_t g = first; g < end; ++g) {
        std::int64_t entries = 0;
        rows.each_row(g - first,
                      [&](std::int64_t row) { entries += a.offsets[row + 1] - a.offsets[row]; });
        sums.begin(as_size(std::min(entries, aggregates)));
        rows.each_row(g - first, [&](std::int64_t row) {
            a.each_strong(row, 0, 1, [&](std::int32_t j, std::uint8_t coupling) {
                if (aggregate[j] != no_aggregate) sums.add(aggregate[j], coupling);
            });
        });
        sums.drain([&](std::int32_t other, std::int32_t sum) {
            if (other != g) table.add_alone(g, other, sum);
        });
    }
}

} // namespace krylith::aggregation
