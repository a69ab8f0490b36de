#include <krylith/vector/execution/posted_sums.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <krylith/comm/agreement/agreement.hpp>
#include <krylith/device/words/host_block.hpp>
#include <krylith/vector/execution/host_signal.hpp>

namespace krylith {

posted_sums::posted_sums(const communicator& comm, std::size_t slots)
    : comm_(comm), carrier_(*comm.carrier()), place_(carrier_.add(*this)) {
    const std::size_t bytes = slots * sizeof(stamped_value);
    const auto make = [&](int rank) {
        const auto block = make_host_block(comm.handle(rank), bytes);
        return std::shared_ptr<stamped_value>(block, reinterpret_cast<stamped_value*>(block.get()));
    };
    for (const int rank : comm.local())
        ranks_.push_back({bytes, comm.kind() == backend::cuda ? make(rank) : nullptr, make(rank),
                          make_host_word(comm.handle(rank))});
    for (int rank = 0; rank < comm.ranks(); ++rank) {
        const int driver = comm.driver_of(rank);
        if (parties_.empty() || parties_.back().driver != driver)
            parties_.push_back({driver, rank, 0});
        ++parties_.back().ranks;
        if (driver == carrier_.driver()) own_ = parties() - 1;
    }
    for (batch& one : batches_) one.values.resize(parties_.size());
}

posted_sums::~posted_sums() {
    carrier_.remove(place_); // what may come goes nowhere
    try {                    // kernels write into outboxes, which are freed now
        comm_.synchronize();
    } catch (...) { // NOLINT(bugprone-empty-catch): a failure is reported elsewhere
    }
}

int posted_sums::party_before(int places) const {
    return (own_ + parties() - places) % parties();
}

posted_sums::batch& posted_sums::at(std::uint64_t epoch) {
    batch& found = batches_[epoch & 1];
    if (found.epoch != epoch) {
        std::vector<std::vector<double>> values = std::move(found.values); // keeps its memory
        found = {};
        found.values = std::move(values);
        found.epoch = epoch;
    }
    return found;
}

int posted_sums::values_left(int rank) const {
    const local_rank& own = of(rank);
    if (own.view.ranks == 0) return 0; // not connected
    const auto stamp_of = [&](int v) {
        return host::load_acquire(own.outbox.get()[own.view.at(next_, v, 0)].epoch);
    };
    const std::uint64_t stamp = stamp_of(0);
    const int count = batch_count(stamp);
    if (stamp != counted_stamp(next_, count)) return 0;
    for (int v = 1; v < count; ++v)
        if (stamp_of(v) != stamp) return 0;
    return count;
}

/// Takes the batch that local ranks have left, if all have.
bool posted_sums::take_own() {
    int count = 0;
    for (const int rank : comm_.local()) {
        count = values_left(rank);
        if (count == 0) return false;
    }
    if (count == 0) return false; // no local ranks
    batch& next = at(next_);
    next.count = count;
    next.known = 1;
    std::vector<double>& values = next.values[static_cast<std::size_t>(own_)];
    values.clear();
    for (const int rank : comm_.local())
        for (int v = 0; v < count; ++v)
            values.push_back(
                std::atomic_ref(of(rank).outbox.get()[of(rank).view.at(next_, v, 0)].value)
                    .load(std::memory_order_relaxed));
    ++next_;
    advance(next);
    return true;
}

void posted_sums::collect() {
    while (take_own()) {
    }
}

/// Goes on with a batch, of which the own values are here, as far as messages have arrived.
void posted_sums::advance(batch& of) {
    while (of.known < parties()) {
        const int blocks = std::min(of.known, parties() - of.known);
        if (!of.sent) send(of, blocks);
        of.sent = true;
        if ((of.arrived >> of.step & 1) == 0) return;
        of.known += blocks;
        of.sent = false;
        ++of.step;
    }
    deliver(of);
}

void posted_sums::send(const batch& of, int blocks) {
    const auto values = std::make_shared<std::vector<double>>();
    for (int k = 0; k < blocks; ++k) {
        const auto& block = of.values[static_cast<std::size_t>(party_before(k))];
        values->insert(values->end(), block.begin(), block.end());
    }
    carried_message message{};
    message.place = place_;
    message.word = of.epoch;
    message.size = values->size() * sizeof(double);
    message.kind = static_cast<std::uint32_t>(of.step);
    const party& to = parties_[static_cast<std::size_t>((own_ + of.known) % parties())];
    carrier_.post(to.driver, message, reinterpret_cast<const std::byte*>(values->data()), values);
}

void posted_sums::arrive(const carried_message& message, const std::byte* bytes) {
    // The sender is so many places before this party.
    const int before = 1 << std::min(message.kind, 30U);
    const int blocks = std::min(before, parties() - before);
    std::size_t ranks = 0;
    for (int k = 0; k < blocks; ++k)
        ranks += static_cast<std::size_t>(
            parties_[static_cast<std::size_t>(party_before(before + k))].ranks);
    agreement::check_step(ranks != 0 && message.size % (ranks * sizeof(double)) == 0);
    batch& of = at(message.word);
    const std::size_t count = message.size / sizeof(double) / ranks;
    for (int k = 0; k < blocks; ++k) {
        const auto from = static_cast<std::size_t>(party_before(before + k));
        std::vector<double>& values = of.values[from];
        values.resize(count * static_cast<std::size_t>(parties_[from].ranks));
        std::memcpy(values.data(), bytes, values.size() * sizeof(double));
        bytes += values.size() * sizeof(double);
    }
    of.arrived |= 1U << message.kind;
    if (of.known != 0) advance(of);
}

/// Adds up the values of all ranks, as kernels of one machine do, and hands the sums to local
/// ranks.
void posted_sums::deliver(const batch& of) {
    for (int v = 0; v < of.count; ++v) {
        double sum = 0;
        bool any = false;
        for (const auto& values : of.values)
            for (auto k = static_cast<std::size_t>(v); k < values.size();
                 k += static_cast<std::size_t>(of.count)) {
                sum = any ? sum + values[k] : values[k];
                any = true;
            }
        for (const int rank : comm_.local()) {
            const local_rank& own = this->of(rank);
            stamped_value* const slots =
                own.inbox != nullptr ? own.inbox.get() : own.view.own_slots;
            host::store_stamped(slots[own.view.at(of.epoch, v, 0)], {sum, of.epoch});
        }
    }
}

posted_sums::missing_rank posted_sums::missing() const {
    const batch& last = batches_[(next_ - 1) & 1];
    if (next_ > 1 && last.epoch == next_ - 1 && last.known < parties())
        return {parties_[static_cast<std::size_t>(party_before(last.known))].first, last.known > 1};
    for (const int rank : comm_.local())
        if (values_left(rank) == 0) return {rank, false};
    return {0, false};
}

void posted_sums::fail(int rank) {
    for (const int own : comm_.local()) {
        const local_rank& local = of(own);
        if (local.view.failure == nullptr) continue;
        rank = rank < local.view.ranks ? rank : 0; // that of a communicator with more ranks
        if (comm_.kind() == backend::host) {
            host::raise_failure(local.view, rank);
            continue;
        }
        std::uint32_t none = 0; // the first failure stays
        if (!std::atomic_ref(*local.failed)
                 .compare_exchange_strong(none, 1 + static_cast<std::uint32_t>(rank)))
            continue;
        carrier_.bring(comm_[own], local.failed.get(), local.view.failure, sizeof(std::int32_t));
    }
}

void posted_sums::begin_anew() {
    for (const int rank : comm_.local()) {
        local_rank& own = of(rank);
        if (own.view.ranks == 0) continue;
        for (const auto& block : {own.inbox, own.outbox})
            if (block != nullptr) std::memset(static_cast<void*>(block.get()), 0, own.bytes);
        comm_[rank].zero(own.view.own_slots, own.bytes);
        comm_[rank].zero(own.view.published, sizeof *own.view.published);
        comm_[rank].zero(own.view.failure, sizeof *own.view.failure);
        std::atomic_ref(*own.failed).store(0);
    }
    for (batch& one : batches_) one.epoch = 0;
    next_ = 1;
}

} // namespace krylith
