#include <krylith/distributed/files/entry_routing.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/partition/nodes/block_size.hpp>

namespace krylith::detail {

namespace {

/// What each driver says, at its first rank.
std::vector<std::int64_t> of_drivers(const communicator& comm, std::int64_t here) {
    std::vector<std::int64_t> all(as_size(comm.ranks()), 0);
    if (!comm.local().empty()) all[as_size(comm.first_local())] = here;
    comm.all_gather(all);
    return all;
}

/// The rank that stands for this driver; drivers without one send nothing.
int own_number(const communicator& comm) {
    return comm.local().empty() ? -1 : comm.first_local();
}

template <class V>
void sort_lists(std::vector<addressed_list<V>>& lists) {
    std::ranges::sort(lists, {}, [](const auto& list) { return std::pair(list.to, list.from); });
}

template <class T>
struct sent_entry {
    std::int32_t row;
    std::int32_t column;
    T value;
};

/// Entries of a driver as they are sent.
template <class T>
class outgoing {
public:
    outgoing(const coo_matrix<T>& entries, const row_partition& rows, entry_side side)
        : entries_(entries), rows_(rows), side_(side) {}

    /// Calls use(rank, entry) for those of [begin, end) that are sent.
    template <class Use>
    void visit(std::int64_t begin, std::int64_t end, const Use& use) {
        for (auto k = as_size(begin); k < as_size(end); ++k) {
            sent_entry<T> entry{entries_.row_indices[k], entries_.column_indices[k],
                                entries_.values[k]};
            if (side_ != entry_side::as_given) {
                if (entry.row == entry.column) continue;
                std::swap(entry.row, entry.column);
            }
            if (!owned_.contains(entry.row)) { // neighbours have one owner
                rank_ = rows_.owner(entry.row);
                owned_ = rows_.owned(rank_);
            }
            use(rank_, entry);
        }
    }

private:
    const coo_matrix<T>& entries_;
    const row_partition& rows_;
    entry_side side_;
    int rank_ = 0;
    row_range owned_;
};

/// Where entries of a driver that are for a rank go on.
struct coming_entries {
    int to;
    int from;
    std::size_t next;
};

} // namespace

row_range local_rows(const communicator& comm, const row_partition& rows) {
    if (comm.local().empty()) return {};
    return {rows.owned(comm.local().front()).begin, rows.owned(comm.local().back()).end};
}

std::int64_t sum_of_drivers(const communicator& comm, std::int64_t here) {
    const auto all = of_drivers(comm, here);
    return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

std::int64_t sum_before(const communicator& comm, std::int64_t here) {
    const auto all = of_drivers(comm, here);
    return std::accumulate(all.begin(), all.begin() + std::max(own_number(comm), 0),
                           std::int64_t{0});
}

row_partition cut_by_entries(const communicator& comm, std::int64_t rows,
                             std::span<const std::int32_t> row_indices,
                             std::span<const std::int32_t> more_row_indices) {
    constexpr std::int64_t most = 1 << 14;
    int shift = 0; // 2^shift rows are counted together
    while (rows >> shift >= most) ++shift;
    const std::int64_t count = (rows >> shift) + 1;
    std::vector<std::vector<std::int64_t>> counts(as_size(comm.ranks()));
    std::vector<std::int64_t> mine(as_size(count) + 1, 0);
    for (const auto& indices : {row_indices, more_row_indices})
        for (const std::int32_t row : indices) ++mine[as_size(row >> shift) + 1];
    if (!comm.local().empty()) counts[as_size(comm.first_local())] = std::move(mine);
    comm.all_gather_lists(counts);
    std::vector<std::int64_t> offsets(as_size(count) + 1, 0);
    for (const auto& of_driver : counts)
        for (std::size_t k = 0; k < of_driver.size(); ++k) offsets[k] += of_driver[k];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    row_partition cut = equal_nonzeros(offsets, comm.ranks());
    for (std::int64_t& begin : cut.begin) begin = std::min(begin << shift, rows);
    return cut;
}

template <class T>
coo_matrix<T> route_entries(const communicator& comm, const coo_matrix<T>& entries,
                            const row_partition& rows, entry_side side,
                            const market::memory_limit& limit, double held) {
    const row_range own = local_rows(comm, rows);
    const int me = own_number(comm);
    const std::int64_t count = entries.entries();
    outgoing<T> sent(entries, rows, side);
    std::vector<std::int64_t> counts(as_size(comm.ranks()), 0);
    sent.visit(0, count, [&](int rank, const sent_entry<T>&) { ++counts[as_size(rank)]; });
    std::vector<addressed_list<std::int64_t>> told;
    for (int rank = 0; rank < comm.ranks(); ++rank)
        if (counts[as_size(rank)] != 0) told.push_back({me, rank, {counts[as_size(rank)]}});
    auto numbers = comm.deliver(std::move(told));
    sort_lists(numbers);
    std::vector<coming_entries> coming;
    std::size_t all = 0;
    for (const auto& list : numbers) {
        coming.push_back({list.to, list.from, all});
        all += as_size(list.items[0]);
    }
    limit.check(held + coo_bytes<T>(count), coo_bytes<T>(static_cast<std::int64_t>(all)));
    coo_matrix<T> result{own.size(), entries.columns, std::vector<std::int32_t>(all),
                         std::vector<std::int32_t>(all), std::vector<T>(all)};
    const auto place_of = [&](int to, int from) -> std::size_t& {
        return std::ranges::find_if(
                   coming,
                   [&](const coming_entries& one) { return one.to == to && one.from == from; })
            ->next;
    };
    std::vector<std::size_t*> staying(as_size(comm.ranks()), nullptr);
    for (coming_entries& one : coming)
        if (one.from == me) staying[as_size(one.to)] = &one.next;
    const auto put = [&](std::size_t& place, const sent_entry<T>& entry) {
        result.row_indices[place] = static_cast<std::int32_t>(entry.row - own.begin);
        result.column_indices[place] = entry.column;
        result.values[place++] = entry.value;
    };
    // Each message costs a meeting of all.
    const std::int64_t longest = std::ranges::max(of_drivers(comm, count));
    const std::int64_t step = std::max(items_a_message, longest / most_messages);
    for (std::int64_t begin = 0; begin < longest; begin += step) {
        std::vector<std::vector<sent_entry<T>>> lists(as_size(comm.ranks()));
        sent.visit(std::min(begin, count), std::min(begin + step, count),
                   [&](int rank, const sent_entry<T>& entry) {
                       if (comm.is_local(rank))
                           put(*staying[as_size(rank)], entry);
                       else
                           lists[as_size(rank)].push_back(entry);
                   });
        std::vector<addressed_list<sent_entry<T>>> given;
        for (int rank = 0; rank < comm.ranks(); ++rank)
            if (!lists[as_size(rank)].empty())
                given.push_back({me, rank, std::move(lists[as_size(rank)])});
        for (const auto& list : comm.deliver(std::move(given))) {
            std::size_t& place = place_of(list.to, list.from);
            for (const sent_entry<T>& entry : list.items) put(place, entry);
        }
    }
    return result;
}

template <class T>
csr_matrix<T> move_rows(const communicator& comm, csr_matrix<T> mine, const row_partition& from,
                        const row_partition& to) {
    if (from == to) return mine;
    const row_range have = local_rows(comm, from);
    std::vector<addressed_list<std::int64_t>> lengths;
    std::vector<addressed_list<std::int32_t>> columns;
    std::vector<addressed_list<T>> values;
    const int me = own_number(comm);
    for (int rank = 0; rank < comm.ranks(); ++rank) {
        const std::int64_t begin = std::max(have.begin, to.owned(rank).begin);
        const std::int64_t end = std::min(have.end, to.owned(rank).end);
        if (begin >= end) continue;
        const auto* const offsets = mine.row_offsets.data() + (begin - have.begin);
        auto& of_rows = lengths.emplace_back(addressed_list<std::int64_t>{me, rank, {}}).items;
        for (std::int64_t row = 0; row < end - begin; ++row)
            of_rows.push_back(offsets[row + 1] - offsets[row]);
        const auto first = offsets[0];
        const auto last = offsets[end - begin];
        columns.push_back(
            {me, rank, {mine.column_indices.begin() + first, mine.column_indices.begin() + last}});
        values.push_back({me, rank, {mine.values.begin() + first, mine.values.begin() + last}});
    }
    mine = {local_rows(comm, to).size(), mine.columns, {0}, {}, {}};
    const auto take = [&](auto given, const auto& use) {
        auto lists = comm.deliver(std::move(given));
        sort_lists(lists);
        for (const auto& list : lists) use(list.items);
    };
    take(std::move(lengths), [&](const std::vector<std::int64_t>& of_rows) {
        for (const std::int64_t length : of_rows)
            mine.row_offsets.push_back(mine.row_offsets.back() + length);
    });
    mine.column_indices.reserve(as_size(mine.row_offsets.back()));
    take(std::move(columns), [&](const std::vector<std::int32_t>& items) {
        mine.column_indices.insert(mine.column_indices.end(), items.begin(), items.end());
    });
    mine.values.reserve(as_size(mine.row_offsets.back()));
    take(std::move(values), [&](const std::vector<T>& items) {
        mine.values.insert(mine.values.end(), items.begin(), items.end());
    });
    return mine;
}

template <class T>
row_partition cut_rows(const communicator& comm, const csr_matrix<T>& mine,
                       const row_partition& from, int block_size) {
    const row_range have = local_rows(comm, from);
    const std::int64_t before = sum_before(comm, mine.nnz());
    const std::int64_t all = sum_of_drivers(comm, mine.nnz());
    if (block_size == 1 && comm.ranks() > 1)
        block_size = find_block_size(from.rows(), [&](row_range window,
                                                      std::vector<std::int64_t>& offsets,
                                                      std::vector<std::int32_t>& columns) {
            std::vector<std::vector<std::int64_t>> lengths(as_size(comm.ranks()));
            std::vector<std::vector<std::int32_t>> indices(as_size(comm.ranks()));
            const std::int64_t begin = std::max(have.begin, window.begin);
            const std::int64_t end = std::min(have.end, window.end);
            if (begin < end) {
                auto rows = std::span(mine.row_offsets)
                                .subspan(as_size(begin - have.begin), as_size(end - begin) + 1);
                const auto enough = as_size(block_size_search::enough(rows));
                auto& own = lengths[as_size(comm.first_local())];
                for (std::size_t k = 0; k + 1 < rows.size(); ++k)
                    own.push_back(rows[k + 1] - rows[k]);
                indices[as_size(comm.first_local())] = {mine.column_indices.begin() + rows.front(),
                                                        mine.column_indices.begin() + rows[enough]};
            }
            comm.all_gather_lists(lengths);
            comm.all_gather_lists(indices);
            offsets = {0};
            columns.clear();
            for (const auto& own : lengths)
                for (const std::int64_t length : own) offsets.push_back(offsets.back() + length);
            for (const auto& own : indices) {
                columns.insert(columns.end(), own.begin(), own.end());
            }
            offsets.resize(as_size(block_size_search::enough(offsets)) + 1);
        });
    return partition_rows(from.rows(), comm.ranks(), block_size, [&](std::int64_t row) {
        if (row == from.rows()) return all;
        const int owner = from.owner(row);
        std::vector<std::int64_t> answers(as_size(comm.ranks()), 0);
        if (comm.is_local(owner))
            answers[as_size(owner)] = before + mine.row_offsets[as_size(row - have.begin)];
        comm.all_gather(answers);
        return answers[as_size(owner)];
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<route_entries<T>, move_rows<T>, cut_rows<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
