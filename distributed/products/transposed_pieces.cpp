#include <krylith/distributed/products/transposed_pieces.hpp>

#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/download_numbers.hpp>
#include <krylith/device/loops/running_sums.hpp>

namespace krylith {

transposed_pieces::transposed_pieces(const communicator& comm,
                                     std::span<const local_columns> columns,
                                     std::span<const std::int64_t* const> offsets)
    : shared_rows(comm, columns), own_(columns.size()) {
    const settled_on_failure settled(comm);
    read_places(columns, offsets);
    bring_offsets(offsets);
    for (const int rank : comm.local()) add_up(rank);
}

/// Reads where pieces begin and end in their blocks, and keeps the offsets of own rows.
void transposed_pieces::read_places(std::span<const local_columns> columns,
                                    std::span<const std::int64_t* const> offsets) {
    std::vector<row_range> taken(rows().size());
    on_each_rank(comm(), [&](int rank) {
        const auto& on = comm().handle(rank);
        const std::int64_t* const mine = offsets[as_size(rank)];
        const std::int64_t first = columns[as_size(rank)].first_owned();
        const std::int64_t owned = columns[as_size(rank)].owned().size();
        std::vector<const std::int64_t*> ends{mine + first, mine + first + owned};
        for (const shared_items& m : rows())
            if (m.user == rank)
                ends.insert(ends.end(), {mine + m.at_user, mine + m.at_user + m.count});
        const std::vector<std::int64_t> numbers = download_numbers(*on, ends);
        own_rows& own = own_[as_size(rank)];
        own.entries = {numbers[0], numbers[1]};
        auto next = numbers.begin() + 2;
        for (std::size_t k = 0; k < taken.size(); ++k) {
            if (rows()[k].user != rank) continue;
            taken[k] = {next[0], next[1]};
            next += 2;
        }
        own.packed = {on, as_size(owned) + 1, item};
        own.jump = {on, as_size(owned), item};
        on->copy(own.packed.data(), mine + first, own.packed.size() * sizeof(std::int64_t));
    });
    take_places(std::move(taken));
    entries_ = entries_.inverse();
}

/// Brings the offsets of pieces to the owners, counted from 0.
void transposed_pieces::bring_offsets(std::span<const std::int64_t* const> offsets) {
    std::vector<shared_items> pieces;
    for (std::size_t k = 0; k < rows().size(); ++k) {
        const shared_items& m = rows()[k];
        pieces.push_back({m.user, m.owner, m.count + 1, m.at_user, rows_at_[k]});
    }
    exchange(comm(), std::move(pieces))
        .fetch(std::vector<const std::int64_t*>(offsets.begin(), offsets.end()),
               pointers_of(packed_));
    for (std::size_t k = 0; k < rows().size(); ++k)
        if (const shared_items& m = rows()[k]; comm().is_local(m.owner))
            run_items(comm()[m.owner],
                      shift_offsets<std::int64_t>{packed(k), -taken_[k].begin, packed(k)},
                      m.count + 1);
}

/// Adds up the lengths of the rows of a rank, and finds the places of pieces in them.
void transposed_pieces::add_up(int rank) {
    device& on = comm()[rank];
    const own_rows& own = own_[as_size(rank)];
    const auto owned = static_cast<std::int64_t>(own.jump.size());
    buffer<std::int64_t>& all = offsets_[as_size(rank)];
    all = {comm().handle(rank), as_size(owned) + 1, "offsets of a matrix"};
    all.zero();
    std::int64_t& size = size_[as_size(rank)];
    const auto add_own = [&] {
        run_items(on, add_lengths{own.packed.data(), {}, all.data(), own.jump.data()}, owned);
        size += own.entries.size();
    };
    bool added = false;
    for (std::size_t k = 0; k < rows().size(); ++k) {
        const shared_items& m = rows()[k];
        if (m.owner != rank) continue;
        if (m.user > rank && !std::exchange(added, true)) add_own();
        run_items(on, add_lengths{packed(k), m.places(), all.data(), jump(k)}, m.count);
        size += taken_[k].size();
    }
    if (!added) add_own();
    add_up_sizes(comm().handle(rank), owned, all.data(), all.data());
    run_items(on, jump_into_rows{own.packed.data(), {}, all.data(), own.jump.data()}, owned);
    for (std::size_t k = 0; k < rows().size(); ++k)
        if (const shared_items& m = rows()[k]; m.owner == rank)
            run_items(on, jump_into_rows{packed(k), m.places(), all.data(), jump(k)}, m.count);
}

template <class V>
void transposed_pieces::join(const std::vector<const V*>& from, const std::vector<V*>& to) const {
    const settled_on_failure settled(comm()); // before pieces are freed
    const std::vector<buffer<V>> pieces = make_room<V>();
    entries_.fetch(from, pointers_of(pieces));
    for (const int rank : comm().local())
        scatter_rows(comm()[rank], own_[as_size(rank)].view(), from[as_size(rank)],
                     to[as_size(rank)]);
    for (std::size_t k = 0; k < rows().size(); ++k)
        if (const int owner = rows()[k].owner; comm().is_local(owner))
            scatter_rows(comm()[owner], view(k),
                         static_cast<const V*>(pieces[as_size(owner)].data() + packed_at(k)),
                         to[as_size(owner)]);
}

std::int64_t transposed_pieces::bytes(int rank) const noexcept {
    const own_rows& own = own_[as_size(rank)];
    return bytes_of_rows(rank) +
           static_cast<std::int64_t>((own.packed.size() + own.jump.size()) * sizeof(std::int64_t));
}

template void transposed_pieces::join(const std::vector<const std::int32_t*>&,
                                      const std::vector<std::int32_t*>&) const;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void transposed_pieces::join(const std::vector<const T*>&, const std::vector<T*>&)    \
        const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
