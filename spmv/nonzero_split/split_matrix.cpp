#include <krylith/spmv/nonzero_split/split_matrix.hpp>

#include <algorithm>
#include <utility>

#include <krylith/distributed/source/dealt_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/nonzero_split/split_steps.hpp>

namespace krylith {

namespace {

/// The rows of a range of entries that a rank owns, with what the range has of them, and others of
/// which it has entries.
struct cut_rows {
    joined_rows own;
    joined_rows remote;
    std::vector<std::int64_t> remote_rows;
};

cut_rows cut(std::span<const std::int64_t> row_offsets, row_range entries, row_range owned) {
    const auto inside = [&](row_range rows) {
        return row_range{std::clamp(row_offsets[as_size(rows.begin)], entries.begin, entries.end),
                         std::clamp(row_offsets[as_size(rows.end)], entries.begin, entries.end)};
    };
    cut_rows result;
    result.own = {{{0, owned, inside(owned)}}, owned.size(), {}};
    if (entries.size() == 0) return result;
    const auto first = std::ranges::upper_bound(row_offsets, entries.begin) - row_offsets.begin();
    const auto last = std::ranges::lower_bound(row_offsets, entries.end) - row_offsets.begin();
    std::vector<row_segment>& segments = result.remote.segments;
    for (const row_range rows : {row_range{first - 1, std::min(last, owned.begin)},
                                 row_range{std::max(first - 1, owned.end), last}})
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            const row_range here = inside({row, row + 1});
            if (here.size() == 0) continue;
            result.remote_rows.push_back(row);
            if (segments.empty() || segments.back().rows.end != row)
                segments.push_back({result.remote.size, {row, row}, {here.begin, here.begin}});
            segments.back().rows.end = row + 1;
            segments.back().nonzeros.end = here.end;
            ++result.remote.size;
        }
    return result;
}

} // namespace

split_matrix split_on_host(std::span<const std::int64_t> row_offsets,
                           std::span<const std::int32_t> columns,
                           const nonzero_assignment& assigned) {
    split_matrix split;
    split.plan = make_nonzero_split_plan(row_offsets, columns, assigned);
    for (int rank = 0; rank < assigned.rows.ranks(); ++rank) {
        local_split& part = split.plan.local[as_size(rank)];
        std::vector<found_entry> found;
        for (std::size_t f = 0; f < part.remote_rows.size(); ++f)
            for (std::int64_t k = part.remote.offsets[f]; k < part.remote.offsets[f + 1]; ++k)
                if (columns[as_size(part.remote.source[as_size(k)])] == part.remote_rows[f])
                    found.push_back({k, part.remote_rows[f]});
        split.own.push_back({entry_list(std::move(part.own.source)), {}});
        split.remote.push_back({entry_list(std::move(part.remote.source)), {}});
        add_diagonal(split, rank, found);
    }
    return split;
}

template <class T>
split_matrix split_by_ranges(const communicator& comm, const matrix_source<T>& source,
                             const nonzero_partition& entries, row_partition rows,
                             row_partition columns) {
    split_matrix split;
    const auto ranks = as_size(comm.ranks());
    std::vector<cut_rows> cuts;
    std::vector<wanted_rows> wanted;
    split.plan.local.resize(ranks);
    for (const int rank : comm.local())
        cuts.push_back(cut(source.matrix.row_offsets,
                           {entries.begin[as_size(rank)], entries.begin[as_size(rank + 1)]},
                           rows.owned(rank)));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        split.own.push_back({cuts[rank].own.entries(), {}});
        split.remote.push_back({cuts[rank].remote.entries(), {}});
        split.plan.local[rank].remote_rows = std::move(cuts[rank].remote_rows);
        wanted.push_back({static_cast<int>(rank), &cuts[rank].own});
        wanted.push_back({static_cast<int>(rank), &cuts[rank].remote});
    }
    auto brought = bring_rows(comm, source, std::span<const wanted_rows>(wanted));
    split.plan.halo.rows = std::move(rows);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        split.own[rank].there = std::move(brought[2 * rank]);
        split.remote[rank].there = std::move(brought[2 * rank + 1]);
        add_diagonal(split, static_cast<int>(rank),
                     find_diagonal(comm.handle(static_cast<int>(rank)), split.remote[rank].there,
                                   split.plan.local[rank].remote_rows));
    }
    number_columns(comm, std::move(columns), split);
    return split;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template split_matrix split_by_ranges(const communicator&, const matrix_source<T>&,            \
                                          const nonzero_partition&, row_partition, row_partition);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
