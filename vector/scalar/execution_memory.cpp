#include <krylith/vector/scalar/execution_memory.hpp>

#include <algorithm>
#include <span>

#include <krylith/vector/scalar/reduction_blocks.hpp>

namespace krylith {

namespace {

constexpr const char* item = "scalars";

std::size_t capacity(const execution_options& options) {
    return static_cast<std::size_t>(std::max(options.largest_batch, max_sums));
}

/// Letters in an inbox from one rank: of two batches, by turns (mailbox::at).
std::size_t sent_to_one(const execution_options& options) {
    return 2 * capacity(options);
}

} // namespace

rank_memory::rank_memory(const device_group& group, int rank, const execution_options& options) {
    if (rank == 0) driver = std::make_unique<group_driver>(group);
    const auto& d = group.share(rank);
    const int p = group.size();
    const std::size_t mailbox_size = sent_to_one(options) * static_cast<std::size_t>(p);
    slots = buffer<double>(d, std::size_t{2} * max_registers, item);
    array = buffer<double>(d, static_cast<std::size_t>(options.array_size), item);
    if (rank == 0)
        history = buffer<double>(d, static_cast<std::size_t>(options.history_size), item);
    partials =
        buffer<double>(d, capacity(options) * static_cast<std::size_t>(reduction_blocks(*d)), item);
    inbox = buffer<letter>(d, mailbox_size, item);
    published = buffer<std::uint64_t>(d, 1, item);
    arrivals = buffer<unsigned>(d, 1, item);
    failure = buffer<std::int32_t>(d, 1, item);
    for (int to = 0; to < p; ++to) {
        const bool staged = group.path(rank, to) == transport::staged;
        staging.emplace_back(d, staged ? mailbox_size : 0, item);
        staging.back().zero();
    }
    slots.zero();
    partials.zero();
    array.zero();
    history.zero();
    inbox.zero();
    published.zero();
    arrivals.zero();
    failure.zero();
}

frame connect(const device_group& group, const group_memory& memory, int rank,
              const execution_options& options) {
    auto& m = *memory[static_cast<std::size_t>(rank)];
    std::vector<letter*> outboxes;
    std::vector<std::int32_t*> failures;
    for (int to = 0; to < group.size(); ++to) {
        auto& peer = *memory[static_cast<std::size_t>(to)];
        const bool staged = group.path(rank, to) == transport::staged;
        outboxes.push_back(staged ? m.staging[static_cast<std::size_t>(to)].data()
                                  : peer.inbox.data());
        failures.push_back(staged ? m.failure.data() : peer.failure.data());
    }
    m.outboxes = buffer<letter*>(group.share(rank), std::span<letter* const>(outboxes), item);
    m.failures =
        buffer<std::int32_t*>(group.share(rank), std::span<std::int32_t* const>(failures), item);

    frame f{};
    f.mail.inbox = m.inbox.data();
    f.mail.outboxes = m.outboxes.data();
    f.mail.published = m.published.data();
    f.mail.arrivals = m.arrivals.data();
    f.mail.failure = m.failure.data();
    f.mail.failures = m.failures.data();
    f.mail.launching = group.launching();
    f.mail.timeout_ns = static_cast<std::uint64_t>(options.timeout_seconds * 1e9);
    f.mail.ranks = group.size();
    f.mail.rank = rank;
    f.mail.capacity = static_cast<std::int32_t>(capacity(options));
    f.slots = m.slots.data();
    f.array = m.array.data();
    f.history = m.history.data();
    f.partials = m.partials.data();
    f.partial_stride = reduction_blocks(group[rank]);
    return f;
}

} // namespace krylith
