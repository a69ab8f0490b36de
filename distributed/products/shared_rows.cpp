#include <krylith/distributed/products/shared_rows.hpp>

#include <utility>

#include <krylith/comm/exchange/of_messages.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>

namespace krylith {

shared_rows::shared_rows(const communicator& comm, std::span<const local_columns> columns)
    : offsets_(columns.size()),
      size_(columns.size()),
      comm_(std::make_shared<const communicator>(comm)),
      rows_(exchange_of_ghosts(comm, columns, exchange::lists::at_owners)) {
    std::vector<std::int64_t> room(columns.size(), 0);
    for (const shared_items& m : rows()) {
        std::int64_t& next = room[as_size(m.owner)];
        rows_at_.push_back(next);
        next += m.count + 1;
    }
    const auto arrays = [&] {
        return by_rank(comm, [&](int rank) {
            return buffer<std::int64_t>(comm.handle(rank), as_size(room[as_size(rank)]), item);
        });
    };
    packed_ = arrays();
    jump_ = arrays();
}

std::int64_t* shared_rows::packed(std::size_t k) const {
    return packed_[as_size(rows()[k].owner)].data() + rows_at_[k];
}

std::int64_t* shared_rows::jump(std::size_t k) const {
    return jump_[as_size(rows()[k].owner)].data() + rows_at_[k];
}

void shared_rows::take_places(std::vector<row_range> taken) {
    taken_ = of_messages(
        comm(), taken.size(), [&](std::size_t k) { return rows()[k].user; },
        [&](std::size_t k) { return taken[k]; });
    room_.assign(size_.size(), 0);
    std::vector<shared_items> items;
    for (std::size_t k = 0; k < taken_.size(); ++k) {
        std::int64_t& next = room_[as_size(rows()[k].owner)];
        const row_range entries = taken_[k];
        if (entries.size() != 0)
            items.push_back({rows()[k].owner, rows()[k].user, entries.size(), next, entries.begin});
        entries_at_.push_back(std::exchange(next, next + entries.size()));
    }
    entries_ = exchange(comm(), std::move(items));
}

std::int64_t shared_rows::bytes_of_rows(int rank) const noexcept {
    std::int64_t rows_here = 0;
    for (const shared_items& m : rows())
        if (m.owner == rank) rows_here += m.count;
    const std::size_t packed = packed_[as_size(rank)].size() + jump_[as_size(rank)].size();
    return static_cast<std::int64_t>(packed * sizeof(std::int64_t)) +
           rows_here * static_cast<std::int64_t>(sizeof(std::int64_t));
}

} // namespace krylith
