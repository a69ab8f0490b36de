// The way of values to those who hold them, after a deal by columns.
#include <krylith/distributed/source/column_deal.hpp>

#include <string>
#include <utility>

#include <krylith/comm/exchange/exchange.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/value_gather.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

void check_ranks(const communicator& comm, std::size_t orders, std::size_t values,
                 std::size_t targets) {
    const std::size_t ranks = as_size(comm.ranks());
    if (orders == ranks && values == ranks && targets == ranks) return;
    throw usage_error("deal_values: orders of " + std::to_string(orders) + " ranks, values of " +
                      std::to_string(values) + " and targets of " + std::to_string(targets) +
                      ", must be of " + std::to_string(ranks));
}

} // namespace

template <class T>
void deal_values(const communicator& comm, std::span<const dealt_order> given,
                 std::span<const T* const> values, std::span<T* const> to) {
    check_ranks(comm, given.size(), values.size(), to.size());
    std::vector<buffer<T>> packed;
    const settled_on_failure settled(comm); // before these are freed
    std::vector<shared_items> pieces;
    std::vector<std::int64_t> held(given.size(), 0); // by lower ranks' pieces
    for (const int rank : comm.local()) {
        const dealt_order& mine = given[as_size(rank)];
        const auto sent = mine.order.size() - as_size(mine.piece(rank));
        packed.emplace_back(comm.handle(rank), sent, matrix_item);
        std::int64_t next = 0;
        for (const int holder : comm.local()) {
            const std::int64_t entries = mine.piece(holder);
            std::int64_t& place = held[as_size(holder)];
            T* const target =
                rank == holder ? to[as_size(rank)] + place : packed.back().data() + next;
            run_items(comm[rank],
                      gather_task<T>{mine.order.data() + mine.begin[as_size(holder)], nullptr,
                                     values[as_size(rank)], target},
                      entries);
            if (rank != holder && entries != 0) {
                pieces.push_back({rank, holder, entries, next, place});
                next += entries;
            }
            place += entries;
        }
    }
    exchange(comm, std::move(pieces))
        .fetch(pointers_of(packed), std::vector<T*>(to.begin(), to.end()));
}

#define KRYLITH_INSTANTIATE(T) template struct instances<deal_values<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
