#include <krylith/device/loops/running_sums.hpp>
#include <krylith/distributed/products/ghost_rows.hpp>

#include <utility>

#include <krylith/comm/exchange/of_messages.hpp>
#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/download_numbers.hpp>
#include <krylith/distributed/products/product_kernels.hpp>

namespace krylith {

namespace {

constexpr const char* ghost_rows_item = "rows of other ranks";

} // namespace

ghost_rows::ghost_rows(const communicator& comm, std::span<const local_columns> columns,
                       std::span<const std::int64_t* const> offsets)
    : comm_(std::make_shared<const communicator>(comm)),
      offsets_(columns.size()),
      size_(columns.size()),
      owned_(columns.size()),
      own_position_(columns.size()) {
    const settled_on_failure settled(comm);
    for (ghost_message& ghosts : make_ghost_messages(comm, columns)) {
        rows_message m;
        m.ghosts = std::move(ghosts);
        messages_.push_back(std::move(m));
    }
    const auto theirs = comm.addresses(offsets);
    comm.join(); // the owners' offsets are there
    measure(theirs);
    on_each_rank(comm, [&](int rank) {
        std::vector<const std::int64_t*> ends{offsets[as_size(rank)] +
                                              columns[as_size(rank)].owned().size()};
        for (const rows_message& m : messages_)
            if (m.ghosts.packer() == rank) ends.push_back(m.packed.data() + m.ghosts.count);
        const std::vector<std::int64_t> numbers = download_numbers(comm[rank], ends);
        owned_[as_size(rank)] = numbers[0];
        auto next = numbers.begin() + 1;
        for (rows_message& m : messages_)
            if (m.ghosts.packer() == rank) m.entries = *next++;
    });
    const auto entries = of_messages(
        comm, messages_.size(), [&](std::size_t k) { return messages_[k].ghosts.packer(); },
        [&](std::size_t k) { return messages_[k].entries; });
    for (std::size_t k = 0; k < messages_.size(); ++k) messages_[k].entries = entries[k];
    place(columns, offsets);
    comm.join(); // owners may write again
}

/// Enqueues the offsets of packed rows, and the ways to the owners' entries.
void ghost_rows::measure(std::span<const std::int64_t* const> offsets) {
    for (rows_message& m : messages_) {
        const ghost_message& g = m.ghosts;
        if (!comm_->is_local(g.packer())) continue;
        const auto& packer = comm_->handle(g.packer());
        const std::int64_t* const theirs = offsets[as_size(g.owner)];
        m.packed = {packer, static_cast<std::size_t>(g.count) + 1, ghost_rows_item};
        m.jump = {packer, static_cast<std::size_t>(g.count), ghost_rows_item};
        run_items(*packer, take_lengths{theirs, g.places(), m.packed.data()}, g.count);
        add_up_sizes(packer, g.count, m.packed.data(), m.packed.data());
        run_items(*packer, jump_from_rows{m.packed.data(), g.places(), theirs, m.jump.data()},
                  g.count);
    }
}

/// Copies the offsets of staged messages to the receivers.
std::vector<buffer<std::int64_t>> ghost_rows::forward_offsets() const {
    std::vector<buffer<std::int64_t>> arrived(messages_.size());
    const auto to = of_messages(
        *comm_, messages_.size(), [&](std::size_t k) { return messages_[k].ghosts.receiver; },
        [&](std::size_t k) {
            const ghost_message& g = messages_[k].ghosts;
            if (g.staged)
                arrived[k] = {comm_->handle(g.receiver), static_cast<std::size_t>(g.count) + 1,
                              ghost_rows_item};
            return arrived[k].data();
        });
    for (std::size_t k = 0; k < messages_.size(); ++k)
        if (const rows_message& m = messages_[k]; m.ghosts.staged && comm_->is_local(m.ghosts.owner))
            comm_->copy(m.ghosts.owner, m.packed.data(), m.ghosts.receiver, to[k],
                        m.packed.size() * sizeof(std::int64_t));
    comm_->join();
    return arrived;
}

/// Finds where rows begin at their receivers.
void ghost_rows::place(std::span<const local_columns> columns,
                       std::span<const std::int64_t* const> offsets) {
    const settled_on_failure settled(*comm_); // before these are freed
    const std::vector<buffer<std::int64_t>> arrived = forward_offsets();
    for (const int rank : comm_->local()) {
        const local_columns& mine = columns[as_size(rank)];
        device& on = (*comm_)[rank];
        buffer<std::int64_t>& all = offsets_[as_size(rank)];
        all = {comm_->handle(rank), static_cast<std::size_t>(mine.count()) + 1,
               "offsets of a matrix"};
        std::int64_t& position = size_[as_size(rank)];
        const auto place_messages = [&](bool below) {
            for (std::size_t i = 0; i < messages_.size(); ++i) {
                rows_message& m = messages_[i];
                if (m.ghosts.receiver != rank || (m.ghosts.first < mine.first_owned()) != below)
                    continue;
                m.position = position;
                position += m.entries;
                const auto& packed = m.ghosts.staged ? arrived[i] : m.packed;
                run_items(on,
                          shift_offsets<std::int64_t>{packed.data(), m.position,
                                                      all.data() + m.ghosts.first},
                          m.ghosts.count + 1);
            }
        };
        place_messages(true);
        own_position_[as_size(rank)] = position;
        run_items(on,
                  shift_offsets<std::int64_t>{offsets[as_size(rank)], position,
                                              all.data() + mine.first_owned()},
                  mine.owned().size() + 1);
        position += owned_[as_size(rank)];
        place_messages(false);
    }
    const auto positions = of_messages(
        *comm_, messages_.size(), [&](std::size_t k) { return messages_[k].ghosts.receiver; },
        [&](std::size_t k) { return messages_[k].position; });
    for (std::size_t k = 0; k < messages_.size(); ++k) messages_[k].position = positions[k];
}

buffer<std::int64_t> ghost_rows::take_offsets(int rank) {
    return std::move(offsets_.at(as_size(rank)));
}

template <class V>
void ghost_rows::fetch(std::span<const V* const> from, std::span<V* const> to) const {
    const settled_on_failure settled(*comm_);
    const auto theirs = comm_->addresses(from);
    const auto places = comm_->addresses(to);
    comm_->join(); // the owners' entries are there
    for (const int rank : comm_->local())
        if (owned_[as_size(rank)] != 0)
            (*comm_)[rank].copy(to[as_size(rank)] + own_position_[as_size(rank)],
                                from[as_size(rank)],
                                static_cast<std::size_t>(owned_[as_size(rank)]) * sizeof(V));
    for (const rows_message& m : messages_) {
        const ghost_message& g = m.ghosts;
        if (!comm_->is_local(g.packer())) continue;
        const packed_rows rows{g.count, m.entries, m.packed.data(), m.jump.data()};
        const V* const entries = theirs[as_size(g.owner)];
        V* const place = places[as_size(g.receiver)] + m.position;
        if (!g.staged) {
            gather_rows((*comm_)[g.receiver], rows, entries, place);
            continue;
        }
        const buffer<V> packed(comm_->handle(g.owner), static_cast<std::size_t>(m.entries),
                               ghost_rows_item);
        gather_rows((*comm_)[g.owner], rows, entries, packed.data());
        comm_->copy(g.owner, packed.data(), g.receiver, place, packed.size() * sizeof(V));
    }
    comm_->join(); // all is there, and owners may write again
}

std::int64_t ghost_rows::bytes(int rank) const noexcept {
    std::size_t sum = 0;
    for (const rows_message& m : messages_)
        if (m.ghosts.packer() == rank)
            sum += (m.packed.size() + m.jump.size()) * sizeof(std::int64_t) + m.ghosts.bytes();
    return static_cast<std::int64_t>(sum);
}

template void ghost_rows::fetch(std::span<const std::int32_t* const>,
                                std::span<std::int32_t* const>) const;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void ghost_rows::fetch(std::span<const T* const>, std::span<T* const>) const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
