#include <krylith/spmv/nonzero_split/partial_exchange.hpp>

#include <span>
#include <utility>

namespace krylith {

namespace {

constexpr const char* partial_sums_item = "partial sums";

template <class V>
buffer<V> uploaded(const communicator& comm, int rank, const std::vector<V>& values) {
    return {comm.handle(rank), std::span<const V>(values), partial_sums_item};
}

} // namespace

template <class T>
partial_exchange<T>::partial_exchange(const communicator& comm, const nonzero_split_plan& plan)
    : comm_(comm), ranks_(static_cast<std::size_t>(comm.ranks())) {
    for (const int rank : comm.local()) receive(rank, plan.local[static_cast<std::size_t>(rank)]);
    for (const int rank : comm.local()) send(rank, plan.local[static_cast<std::size_t>(rank)]);
    channel_ =
        channel(comm,
                by_rank(comm,
                        [&](int rank) {
                            std::vector<int> receivers;
                            for (const auto& m : plan.local[static_cast<std::size_t>(rank)].sends)
                                if (comm.path(rank, m.peer) == peer_path::direct)
                                    receivers.push_back(m.peer);
                            return receivers;
                        }),
                partial_sums_item, 1);
}

template <class T>
void partial_exchange<T>::receive(int rank, const local_split& part) {
    if (part.slot.empty()) return;
    rank_state& s = ranks_[static_cast<std::size_t>(rank)];
    s.slots = buffer<T>(comm_.handle(rank), part.slot.size(), partial_sums_item);
    s.rows = uploaded(comm_, rank, part.summed_rows);
    s.first = uploaded(comm_, rank, part.first_slot);
    s.place = uploaded(comm_, rank, part.slot);
    s.first_row = part.summed_rows.front();
    const auto count = static_cast<std::int32_t>(part.summed_rows.size());
    s.few = count <= most_late_rows && part.summed_rows.back() - s.first_row + 1 == count;
}

template <class T>
void partial_exchange<T>::send(int rank, const local_split& part) {
    rank_state& s = ranks_[static_cast<std::size_t>(rank)];
    std::vector<T*> targets;
    for (const nonzero_split_message& m : part.sends) {
        rank_state& owner = ranks_[static_cast<std::size_t>(m.peer)];
        T* to = owner.slots.data() + m.position;
        if (comm_.path(rank, m.peer) == peer_path::staged) {
            s.staged.push_back({m.peer,
                                buffer<T>(comm_.handle(rank), static_cast<std::size_t>(m.count),
                                          partial_sums_item),
                                to});
            to = s.staged.back().staging.data();
        }
        for (std::int64_t f = 0; f < m.count; ++f) targets.push_back(to + f);
    }
    s.targets = uploaded(comm_, rank, targets);
}

template <class T>
result_put<T> partial_exchange<T>::put(int rank, bool ordered) const {
    result_put<T> put{};
    put.targets = state(rank).targets.data();
    put.channel = channel_.view(rank);
    put.channel.peer_credits = nullptr; // sums() gives credit
    put.ordered = ordered;
    return put;
}

template <class T>
partial_sums<T> partial_exchange<T>::sums(int rank) const {
    const rank_state& s = state(rank);
    if (s.slots.size() == 0) return {};
    const channel_view& channel = channel_.view(rank);
    return {static_cast<std::int32_t>(s.rows.size()),
            s.first_row,
            s.rows.data(),
            s.first.data(),
            s.place.data(),
            s.slots.data(),
            {channel.sent, channel.credited, channel.senders},
            channel.peer_credits,
            channel.credited};
}

template <class T>
void partial_exchange<T>::forward(execution& run) const {
    for (const int rank : comm_.local())
        for (const staged_message& m : state(rank).staged)
            comm_.copy(rank, m.staging.data(), m.to, m.target, m.staging.size() * sizeof(T));
    run.join_if_ordered();
}

template <class T>
std::int64_t partial_exchange<T>::index_bytes(int rank) const {
    const rank_state& s = state(rank);
    return static_cast<std::int64_t>(s.targets.size() * sizeof(T*) +
                                     (s.rows.size() + s.first.size() + s.place.size()) *
                                         sizeof(std::int32_t));
}

#define KRYLITH_INSTANTIATE(T) template class partial_exchange<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
