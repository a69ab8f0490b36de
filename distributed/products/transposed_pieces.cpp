#include <krylith/device/loops/running_sums.hpp>
#include <krylith/distributed/products/transposed_pieces.hpp>

#include <utility>

#include <krylith/comm/exchange/of_messages.hpp>
#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/download_numbers.hpp>
#include <krylith/distributed/products/product_kernels.hpp>

namespace krylith {

namespace {

constexpr const char* transposed_rows_item = "rows of a transposed matrix";

} // namespace

transposed_pieces::transposed_pieces(const communicator& comm,
                                     std::span<const local_columns> columns,
                                     std::span<const std::int64_t* const> offsets)
    : comm_(std::make_shared<const communicator>(comm)),
      own_(columns.size()),
      offsets_(columns.size()),
      size_(columns.size()) {
    const settled_on_failure settled(*comm_);
    for (ghost_message& ghosts : make_ghost_messages(comm, columns, ghost_lists::owners)) {
        piece p;
        p.ghosts = std::move(ghosts);
        pieces_.push_back(std::move(p));
    }
    bring_offsets(columns, offsets);
    place(columns);
}

/// Brings the offsets of pieces to where these go, counted from 0, and reads where they begin.
void transposed_pieces::bring_offsets(std::span<const local_columns> columns,
                                      std::span<const std::int64_t* const> offsets) {
    on_each_rank(*comm_, [&](int rank) {
        device& on = (*comm_)[rank];
        const std::int64_t* const mine = offsets[as_size(rank)];
        const std::int64_t first = columns[as_size(rank)].first_owned();
        const std::int64_t rows = columns[as_size(rank)].owned().size();
        std::vector<const std::int64_t*> ends{mine + first, mine + first + rows};
        for (const piece& p : pieces_)
            if (p.ghosts.receiver == rank)
                ends.insert(ends.end(),
                            {mine + p.ghosts.first, mine + p.ghosts.first + p.ghosts.count});
        const std::vector<std::int64_t> numbers = download_numbers(on, ends);
        own_rows& own = own_[as_size(rank)];
        own.begin = numbers[0];
        own.end = numbers[1];
        auto next = numbers.begin() + 2;
        for (piece& p : pieces_) {
            if (p.ghosts.receiver != rank) continue;
            p.begin = *next++;
            p.end = *next++;
        }
        own.packed = {comm_->handle(rank), static_cast<std::size_t>(rows) + 1,
                      transposed_rows_item};
        own.jump = {comm_->handle(rank), static_cast<std::size_t>(rows), transposed_rows_item};
        on.copy(own.packed.data(), mine + first, own.packed.size() * sizeof(std::int64_t));
    });
    const auto ends = of_messages(
        *comm_, pieces_.size(), [&](std::size_t k) { return pieces_[k].ghosts.receiver; },
        [&](std::size_t k) { return row_range{pieces_[k].begin, pieces_[k].end}; });
    const auto to = of_messages(
        *comm_, pieces_.size(), [&](std::size_t k) { return pieces_[k].ghosts.owner; },
        [&](std::size_t k) {
            piece& p = pieces_[k];
            const ghost_message& g = p.ghosts;
            const auto& owner = comm_->handle(g.owner);
            p.packed = {owner, static_cast<std::size_t>(g.count) + 1, transposed_rows_item};
            p.jump = {owner, static_cast<std::size_t>(g.count), transposed_rows_item};
            return p.packed.data();
        });
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
        const ghost_message& g = pieces_[k].ghosts;
        pieces_[k].begin = ends[k].begin;
        pieces_[k].end = ends[k].end;
        if (comm_->is_local(g.receiver))
            comm_->copy(g.receiver, offsets[as_size(g.receiver)] + g.first, g.owner, to[k],
                        (static_cast<std::size_t>(g.count) + 1) * sizeof(std::int64_t));
    }
    comm_->join();
    for (piece& p : pieces_)
        if (comm_->is_local(p.ghosts.owner))
        run_items((*comm_)[p.ghosts.owner],
                  shift_offsets<std::int64_t>{p.packed.data(), -p.begin, p.packed.data()},
                  p.ghosts.count + 1);
}

/// Adds up the lengths of rows, and finds the places of pieces in them.
void transposed_pieces::place(std::span<const local_columns> columns) {
    for (const int rank : comm_->local()) {
        device& on = (*comm_)[rank];
        const std::int64_t rows = columns[as_size(rank)].owned().size();
        buffer<std::int64_t>& all = offsets_[as_size(rank)];
        all = {comm_->handle(rank), static_cast<std::size_t>(rows) + 1, "offsets of a matrix"};
        all.zero();
        const own_rows& own = own_[as_size(rank)];
        std::int64_t& size = size_[as_size(rank)];
        const auto add_own = [&] {
            run_items(on, add_lengths{own.packed.data(), {}, all.data(), own.jump.data()}, rows);
            size += own.end - own.begin;
        };
        bool added = false;
        for (const piece& p : pieces_) {
            if (p.ghosts.owner != rank) continue;
            if (p.ghosts.receiver > rank && !std::exchange(added, true)) add_own();
            run_items(on,
                      add_lengths{p.packed.data(), p.ghosts.places(), all.data(), p.jump.data()},
                      p.ghosts.count);
            size += p.end - p.begin;
        }
        if (!added) add_own();
        add_up_sizes(comm_->handle(rank), rows, all.data(), all.data());
        run_items(on, jump_into_rows{own.packed.data(), {}, all.data(), own.jump.data()}, rows);
        for (const piece& p : pieces_)
            if (p.ghosts.owner == rank)
                run_items(
                    on,
                    jump_into_rows{p.packed.data(), p.ghosts.places(), all.data(), p.jump.data()},
                    p.ghosts.count);
    }
}

buffer<std::int64_t> transposed_pieces::take_offsets(int rank) {
    return std::move(offsets_.at(as_size(rank)));
}

template <class V>
void transposed_pieces::join(std::span<const V* const> from, std::span<V* const> to) const {
    std::vector<buffer<V>> arrived(pieces_.size());
    const settled_on_failure settled(*comm_); // before `arrived` is freed
    const auto places = of_messages(
        *comm_, pieces_.size(), [&](std::size_t k) { return pieces_[k].ghosts.owner; },
        [&](std::size_t k) {
            const piece& p = pieces_[k];
            arrived[k] = {comm_->handle(p.ghosts.owner), static_cast<std::size_t>(p.end - p.begin),
                          transposed_rows_item};
            return arrived[k].data();
        });
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
        const piece& p = pieces_[k];
        const ghost_message& g = p.ghosts;
        if (comm_->is_local(g.receiver))
            comm_->copy(g.receiver, from[as_size(g.receiver)] + p.begin, g.owner, places[k],
                        static_cast<std::size_t>(p.end - p.begin) * sizeof(V));
    }
    comm_->join();
    for (const int rank : comm_->local()) {
        const own_rows& own = own_[as_size(rank)];
        scatter_rows((*comm_)[rank],
                     {static_cast<std::int64_t>(own.jump.size()), own.end - own.begin,
                      own.packed.data(), own.jump.data()},
                     from[as_size(rank)], to[as_size(rank)]);
    }
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
        const piece& p = pieces_[k];
        if (!comm_->is_local(p.ghosts.owner)) continue;
        scatter_rows((*comm_)[p.ghosts.owner],
                     {p.ghosts.count, p.end - p.begin, p.packed.data(), p.jump.data()},
                     static_cast<const V*>(arrived[k].data()), to[as_size(p.ghosts.owner)]);
    }
}

std::int64_t transposed_pieces::bytes(int rank) const noexcept {
    const own_rows& own = own_[as_size(rank)];
    std::size_t sum = (own.packed.size() + own.jump.size()) * sizeof(std::int64_t);
    for (const piece& p : pieces_)
        if (p.ghosts.owner == rank)
            sum += (p.packed.size() + p.jump.size()) * sizeof(std::int64_t) + p.ghosts.bytes();
    return static_cast<std::int64_t>(sum);
}

template void transposed_pieces::join(std::span<const std::int32_t* const>,
                                      std::span<std::int32_t* const>) const;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void transposed_pieces::join(std::span<const T* const>, std::span<T* const>) const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
