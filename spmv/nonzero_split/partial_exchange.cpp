#include <krylith/spmv/nonzero_split/partial_exchange.hpp>

#include <bit>
#include <span>
#include <utility>

namespace krylith {

namespace {

constexpr const char* partial_sums_item = "partial sums";

std::vector<row_marks> mark_rows(std::int64_t rows, std::span<const std::int32_t> marked) {
    std::vector<row_marks> marks(static_cast<std::size_t>((rows + 31) / 32));
    for (const std::int32_t row : marked)
        marks[static_cast<std::size_t>(row / 32)].rows |= 1u << (row % 32);
    std::int32_t before = 0;
    for (row_marks& m : marks) {
        m.before = before;
        before += std::popcount(m.rows);
    }
    return marks;
}

template <class V>
buffer<V> uploaded(const communicator& comm, int rank, const std::vector<V>& values) {
    return {comm.handle(rank), std::span<const V>(values), partial_sums_item};
}

} // namespace

template <class T>
partial_exchange<T>::partial_exchange(const communicator& comm, const nonzero_split_plan& plan)
    : comm_(comm), ranks_(static_cast<std::size_t>(comm.ranks())) {
    for (const int rank : comm.local()) receive(rank, plan);
    for (const int rank : comm.local()) send(rank, plan.local[static_cast<std::size_t>(rank)]);
    for (const int rank : comm.local()) tabulate(rank);
    reset();
    comm.synchronize(); // words are set before any peer writes them
}

template <class T>
void partial_exchange<T>::receive(int rank, const nonzero_split_plan& plan) {
    const local_split& part = plan.local[static_cast<std::size_t>(rank)];
    rank_state& s = ranks_[static_cast<std::size_t>(rank)];
    const auto p = static_cast<std::size_t>(comm_.ranks());
    if (!part.slot.empty()) {
        const std::int64_t rows = plan.halo.rows.owned(rank).size();
        s.slots = buffer<T>(comm_.handle(rank), part.slot.size(), partial_sums_item);
        s.marks = uploaded(comm_, rank, mark_rows(rows, part.summed_rows));
        s.first = uploaded(comm_, rank, part.first_slot);
        s.place = uploaded(comm_, rank, part.slot);
    }
    std::vector<std::uint64_t> starts(p + 1, 1);
    starts[0] = 0;
    s.starts = uploaded(comm_, rank, starts);
    s.sent = buffer<std::uint64_t>(comm_.handle(rank), p, partial_sums_item);
    s.credits = buffer<std::uint64_t>(comm_.handle(rank), p, partial_sums_item);
    s.counters = buffer<std::uint64_t>(comm_.handle(rank), 2, partial_sums_item);
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
        } else {
            s.to |= 1u << m.peer;
            owner.from |= 1u << rank;
        }
        for (std::int64_t f = 0; f < m.count; ++f) targets.push_back(to + f);
    }
    s.targets = uploaded(comm_, rank, targets);
}

template <class T>
void partial_exchange<T>::tabulate(int rank) {
    std::vector<std::uint64_t*> sents;
    std::vector<std::uint64_t*> peer_credits;
    for (rank_state& peer : ranks_) {
        sents.push_back(peer.sent.data() + rank);
        peer_credits.push_back(peer.credits.data() + rank);
    }
    ranks_[static_cast<std::size_t>(rank)].sents = uploaded(comm_, rank, sents);
    ranks_[static_cast<std::size_t>(rank)].peer_credits = uploaded(comm_, rank, peer_credits);
}

template <class T>
void partial_exchange<T>::reset() const {
    for (const int rank : comm_.local()) {
        const rank_state& s = state(rank);
        s.sent.zero();
        comm_[rank].copy(s.credits.data(), s.starts.data() + 1,
                         s.credits.size() * sizeof(std::uint64_t));
        comm_[rank].copy(s.counters.data(), s.starts.data(), 2 * sizeof(std::uint64_t));
    }
}

template <class T>
void partial_exchange<T>::begin(execution& run) const {
    if (run.identity() != last_run_ && run.ordered()) {
        run.join_if_ordered();
        reset();
        last_run_ = run.identity();
    }
    run.join_if_ordered(); // readers of the last results are done
}

template <class T>
result_put<T> partial_exchange<T>::put(int rank, bool ordered) const {
    const rank_state& s = state(rank);
    result_put<T> put{};
    put.targets = s.targets.data();
    put.sent = s.sents.data();
    put.credits = s.credits.data();
    put.put_count = s.counters.data();
    put.to = s.to;
    put.ordered = ordered;
    return put;
}

template <class T>
partial_sums<T> partial_exchange<T>::sums(int rank) const {
    const rank_state& s = state(rank);
    if (s.slots.size() == 0) return {};
    std::uint64_t* const next = s.counters.data() + 1;
    return {s.marks.data(),
            s.first.data(),
            s.place.data(),
            s.slots.data(),
            {s.sent.data(), next, s.from},
            s.peer_credits.data(),
            next};
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
                                     s.marks.size() * sizeof(row_marks) +
                                     (s.first.size() + s.place.size()) * sizeof(std::int32_t));
}

#define KRYLITH_INSTANTIATE(T) template class partial_exchange<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
