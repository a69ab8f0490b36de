#include <krylith/distributed/products/column_exchange.hpp>

#include <string>
#include <utility>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/error.hpp>
#include <krylith/distributed/products/product_kernels.hpp>

namespace krylith {

column_exchange::column_exchange(const communicator& comm, std::span<const local_columns> columns)
    : comm_(std::make_shared<const communicator>(comm)),
      messages_(make_ghost_messages(comm, columns)) {
    first_owned_ = by_rank(comm, [&](int rank) {
        return columns[static_cast<std::size_t>(rank)].first_owned();
    });
    comm.all_gather(first_owned_);
    for (const ghost_message& m : messages_) {
        staged_ = staged_ || m.staged;
        orders_.push_back({m.owner, m.receiver});
    }
    orders_ = both_ways(std::move(orders_));
    for (const ghost_message& m : messages_)
        packed_.push_back(m.staged && comm.is_local(m.owner) ? buffer<std::uint64_t>(comm.handle(m.owner),
                                                           static_cast<std::size_t>(m.count),
                                                           "ghosts to copy")
                                   : buffer<std::uint64_t>());
}

template <class V>
void column_exchange::fill(std::span<V* const> arrays) const {
    const settled_on_failure settled(*comm_);
    fetch(arrays);
    if (!messages_.empty()) comm_->order(orders_); // copies are there, owners may write again
}

template <class V>
void column_exchange::fill_in_turn(std::span<V* const> arrays) const {
    const settled_on_failure settled(*comm_);
    fetch(arrays);
    if (staged_) comm_->order(orders_);
}

/// Enqueues what the receivers and packers do, after what the owners did.
template <class V>
void column_exchange::fetch(std::span<V* const> arrays) const {
    const std::size_t ranks = first_owned_.size();
    if (arrays.size() != ranks)
        throw usage_error("column_exchange::fill: there are " + std::to_string(arrays.size()) +
                          " arrays for " + std::to_string(ranks) + " ranks");
    if (messages_.empty()) return;
    const std::vector<V*> places = comm_->addresses(arrays);
    comm_->order(orders_); // owners' values are there
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        const ghost_message& m = messages_[i];
        const auto owner = static_cast<std::size_t>(m.owner);
        if (!comm_->is_local(m.packer())) continue;
        const V* const from = places[owner] + first_owned_[owner];
        V* const to = places[static_cast<std::size_t>(m.receiver)] + m.first;
        V* const packed = m.staged ? reinterpret_cast<V*>(packed_[i].data()) : to;
        run_items((*comm_)[m.packer()], gather_items<V>{m.places(), from, packed}, m.count);
        if (m.staged)
            comm_->copy(m.owner, packed, m.receiver, to,
                        static_cast<std::size_t>(m.count) * sizeof(V));
    }
}

std::int64_t column_exchange::bytes() const noexcept {
    std::size_t sum = 0;
    for (const ghost_message& m : messages_) sum += m.bytes();
    for (const auto& one : packed_) sum += one.size() * sizeof(std::uint64_t);
    return static_cast<std::int64_t>(sum);
}

template void column_exchange::fill(std::span<std::uint64_t* const>) const;
template void column_exchange::fill(std::span<std::int32_t* const>) const;
template void column_exchange::fill(std::span<std::uint8_t* const>) const;
template void column_exchange::fill_in_turn(std::span<std::int32_t* const>) const;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void column_exchange::fill(std::span<T* const>) const;                                \
    template void column_exchange::fill_in_turn(std::span<T* const>) const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
