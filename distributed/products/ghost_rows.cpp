#include <krylith/distributed/products/ghost_rows.hpp>

#include <utility>

#include <krylith/comm/exchange/of_messages.hpp>
#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/download_numbers.hpp>
#include <krylith/device/loops/running_sums.hpp>

namespace krylith {

ghost_rows::ghost_rows(const communicator& comm, std::span<const local_columns> columns,
                       std::span<const std::int64_t* const> offsets)
    : shared_rows(comm, columns), own_(columns.size()) {
    const settled_on_failure settled(comm);
    place(columns, pack(columns, offsets));
    bring_offsets(columns, offsets);
}

/// Finds the offsets of packed rows and the ways to the owners' entries. Returns the entries of
/// items; own_ gets as many entries as owned rows have.
std::vector<std::int64_t> ghost_rows::pack(std::span<const local_columns> columns,
                                           std::span<const std::int64_t* const> offsets) {
    std::vector<std::int64_t> sizes(rows().size());
    on_each_rank(comm(), [&](int rank) {
        const auto& owner = comm().handle(rank);
        const std::int64_t* const theirs = offsets[as_size(rank)];
        std::vector<const std::int64_t*> ends{theirs + columns[as_size(rank)].owned().size()};
        for (std::size_t k = 0; k < rows().size(); ++k) {
            const shared_items& m = rows()[k];
            if (m.owner != rank) continue;
            run_items(*owner, take_lengths{theirs, m.places(), packed(k)}, m.count);
            add_up_sizes(owner, m.count, packed(k), packed(k));
            run_items(*owner, jump_from_rows{packed(k), m.places(), theirs, jump(k)}, m.count);
            ends.push_back(packed(k) + m.count);
        }
        const std::vector<std::int64_t> numbers = download_numbers(*owner, ends);
        own_[as_size(rank)] = {0, numbers[0]};
        auto next = numbers.begin() + 1;
        for (std::size_t k = 0; k < rows().size(); ++k)
            if (rows()[k].owner == rank) sizes[k] = *next++;
    });
    return of_messages(
        comm(), sizes.size(), [&](std::size_t k) { return rows()[k].owner; },
        [&](std::size_t k) { return sizes[k]; });
}

/// Finds the places of all entries at the users: those of ghosts below a rank's own columns come
/// before its own, the others after.
void ghost_rows::place(std::span<const local_columns> columns,
                       const std::vector<std::int64_t>& sizes) {
    std::vector<row_range> taken(sizes.size());
    for (const int rank : comm().local()) {
        std::int64_t next = 0;
        const auto place_items = [&](bool below) {
            for (std::size_t k = 0; k < sizes.size(); ++k) {
                const shared_items& m = rows()[k];
                if (m.user != rank || (m.at_user < columns[as_size(rank)].first_owned()) != below)
                    continue;
                taken[k] = {next, next + sizes[k]};
                next = taken[k].end;
            }
        };
        place_items(true);
        row_range& own = own_[as_size(rank)];
        own = {next, next + own.size()};
        next = own.end;
        place_items(false);
        size_[as_size(rank)] = next;
    }
    take_places(std::move(taken));
}

/// Brings the offsets of ghosts' rows, and counts all from the first entry of their user.
void ghost_rows::bring_offsets(std::span<const local_columns> columns,
                               std::span<const std::int64_t* const> offsets) {
    std::vector<shared_items> begins; // of rows: the end of an item is the next one's begin
    for (std::size_t k = 0; k < rows().size(); ++k) {
        const shared_items& m = rows()[k];
        begins.push_back({m.owner, m.user, m.count, rows_at_[k], m.at_user});
    }
    offsets_ = by_rank(comm(), [&](int rank) {
        buffer<std::int64_t> all(comm().handle(rank), as_size(columns[as_size(rank)].count()) + 1,
                                 "offsets of a matrix");
        all.zero();
        return all;
    });
    const auto to = pointers_of(offsets_);
    exchange(comm(), std::move(begins)).fetch(pointers_of(packed_), to);
    for (const int rank : comm().local()) {
        device& on = comm()[rank];
        const local_columns& mine = columns[as_size(rank)];
        const auto shift = [&](const std::int64_t* given, std::int64_t by, std::int64_t first,
                               std::int64_t count) {
            run_items(on, shift_offsets<std::int64_t>{given, by, to[as_size(rank)] + first}, count);
        };
        for (std::size_t k = 0; k < rows().size(); ++k)
            if (const shared_items& m = rows()[k]; m.user == rank)
                shift(to[as_size(rank)] + m.at_user, taken_[k].begin, m.at_user, m.count);
        const std::int64_t owned = mine.owned().size();
        const bool last = mine.first_owned() + owned == mine.count();
        shift(offsets[as_size(rank)], own_[as_size(rank)].begin, mine.first_owned(),
              owned + (last ? 1 : 0));
        if (!last) shift(to[as_size(rank)] + mine.count(), entries(rank), mine.count(), 1);
    }
}

template <class V>
void ghost_rows::fetch(const std::vector<const V*>& from, const std::vector<V*>& to) const {
    const settled_on_failure settled(comm()); // before packed entries are freed
    const std::vector<buffer<V>> sent = make_room<V>();
    for (const int rank : comm().local())
        if (const row_range own = own_[as_size(rank)]; own.size() != 0)
            comm()[rank].copy(to[as_size(rank)] + own.begin, from[as_size(rank)],
                              as_size(own.size()) * sizeof(V));
    for (std::size_t k = 0; k < rows().size(); ++k)
        if (const int owner = rows()[k].owner; comm().is_local(owner))
            gather_rows(comm()[owner], view(k), from[as_size(owner)],
                        sent[as_size(owner)].data() + packed_at(k));
    entries_.fetch(pointers_of(sent), to);
}

template void ghost_rows::fetch(const std::vector<const std::int32_t*>&,
                                const std::vector<std::int32_t*>&) const;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void ghost_rows::fetch(const std::vector<const T*>&, const std::vector<T*>&) const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
