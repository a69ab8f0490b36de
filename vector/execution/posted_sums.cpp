#include <krylith/vector/execution/posted_sums.hpp>

#include <atomic>
#include <cstring>

#include <krylith/device/words/host_block.hpp>
#include <krylith/vector/execution/host_signal.hpp>

namespace krylith {

posted_sums::posted_sums(const communicator& comm, std::size_t slots)
    : comm_(comm), carrier_(*comm.carrier()), place_(carrier_.add(*this)) {
    if (!comm.local().empty()) first_ = comm.first_local();
    const std::size_t bytes = slots * sizeof(stamped_value);
    const auto make = [&](int rank) {
        const auto block = make_host_block(comm.handle(rank), bytes);
        return std::shared_ptr<stamped_value>(block, reinterpret_cast<stamped_value*>(block.get()));
    };
    for (const int rank : comm.local())
        ranks_.push_back({bytes, comm.kind() == backend::cuda ? make(rank) : nullptr, make(rank),
                          make_host_word(comm.handle(rank))});
}

posted_sums::~posted_sums() {
    carrier_.remove(place_); // what may come goes nowhere
    try {                    // kernels write into outboxes, which are freed now
        comm_.synchronize();
    } catch (...) { // NOLINT(bugprone-empty-catch): a failure is reported elsewhere
    }
}

void posted_sums::collect() {
    for (const int rank : comm_.local())
        if (of(rank).view.ranks != 0) collect(rank, of(rank));
}

/// A batch is whole where the next one begins: kernels publish it once they have all of this one.
void posted_sums::collect(int rank, local_rank& own) {
    const auto at = [&](std::uint64_t epoch, int v) -> stamped_value& {
        return own.outbox.get()[own.view.at(epoch, v, rank)];
    };
    const auto is_there = [&](std::uint64_t epoch, int v) {
        return v < own.view.capacity && host::load_acquire(at(epoch, v).epoch) == epoch;
    };
    std::vector<double> values;
    for (;;) {
        values.clear();
        const int begin = own.next;
        for (; is_there(own.epoch, own.next); ++own.next)
            // A kernel stores it once for each rank of another machine.
            values.push_back(
                std::atomic_ref(at(own.epoch, own.next).value).load(std::memory_order_relaxed));
        if (!values.empty()) {
            carried_message message{};
            message.place = place_;
            message.word = own.epoch;
            message.size = values.size() * sizeof(double);
            message.kind = static_cast<std::uint32_t>(begin);
            message.from = rank;
            std::shared_ptr<std::vector<double>> kept;
            if (message.size > message.bytes.size())
                kept = std::make_shared<std::vector<double>>(values);
            const auto* const bytes =
                reinterpret_cast<const std::byte*>(kept ? kept->data() : values.data());
            for (int k = 0; k < carrier_.drivers(); ++k)
                if (k != carrier_.driver() && comm_.has_ranks_of(k))
                    carrier_.post(k, message, bytes, kept);
        }
        if (!is_there(own.epoch + 1, 0)) return;
        ++own.epoch;
        own.next = 0;
    }
}

void posted_sums::arrive(const carried_message& message, const std::byte* bytes) {
    const auto count = static_cast<int>(message.size / sizeof(double));
    const auto begin = static_cast<int>(message.kind);
    for (const int rank : comm_.local()) {
        const local_rank& own = of(rank);
        if (begin + count > own.view.capacity) return;
        stamped_value* const slots = own.inbox != nullptr ? own.inbox.get() : own.view.own_slots;
        for (int k = 0; k < count; ++k) {
            double value = 0;
            std::memcpy(&value, bytes + static_cast<std::size_t>(k) * sizeof value, sizeof value);
            host::store_stamped(slots[own.view.at(message.word, begin + k, message.from)],
                                {value, message.word});
        }
    }
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
        own.epoch = 1;
        own.next = 0;
    }
}

} // namespace krylith
