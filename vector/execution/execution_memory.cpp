#include <krylith/vector/execution/execution_memory.hpp>

#include <algorithm>
#include <bit>
#include <span>

#include <krylith/vector/execution/reduction_blocks.hpp>

namespace krylith {

namespace {

constexpr const char* item = "scalars";
constexpr std::int64_t least_history = 1024; // a cycle of GMRES

std::size_t capacity(const execution_options& options) {
    return static_cast<std::size_t>(std::max(options.largest_batch, max_sums));
}

/// The number of stamped values that one rank sends to another: two batches, in turn
/// (all_reduce_slots::at).
std::size_t sent_to_one(const execution_options& options) {
    return 2 * capacity(options);
}

/// all_reduce_slots::sources
int sources_of(const communicator& comm) {
    return comm.carrier() != nullptr ? 1 : comm.ranks();
}

/// More iterations than any memory holds, whose bytes can still be counted.
constexpr std::int64_t most_history = std::int64_t{1} << 57;

/// The number of iterations that are recorded.
std::int64_t recorded_iterations(const execution_options& options) {
    const std::int64_t wanted = std::clamp(options.history_size, least_history, most_history);
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
}

} // namespace

rank_memory::rank_memory(const communicator& comm, int rank, const execution_options& options) {
    const auto& d = comm.handle(rank);
    const int p = comm.ranks();
    const std::size_t all_reduce_capacity =
        sent_to_one(options) * static_cast<std::size_t>(sources_of(comm));
    slots = buffer<double>(d, std::size_t{2} * max_registers, item);
    array = buffer<double>(d, static_cast<std::size_t>(options.array_size), item);
    if (rank == comm.first_local())
        history = buffer<double>(d,
                                 static_cast<std::size_t>(recorded_iterations(options)) *
                                     (options.coefficients ? 3 : 1),
                                 item);
    watch = buffer<loop_watch>(d, 1, item);
    posts = std::make_unique<posted_words>(d, most_posted + 1, item);
    const auto sums_of_value = static_cast<std::size_t>(reduction_blocks(*d));
    partials = buffer<double>(d, 2 * (partials_header + capacity(options) * sums_of_value), item);
    own_slots = buffer<stamped_value>(d, all_reduce_capacity, item);
    published = buffer<std::uint64_t>(d, 1, item);
    signals = buffer<unsigned>(d, 1, item);
    failure = buffer<std::int32_t>(d, 1, item);
    for (int to = 0; to < p; ++to) {
        const bool staged = comm.path(rank, to) == peer_path::staged;
        staging.emplace_back(d, staged ? all_reduce_capacity : 0, item);
        staging.back().zero();
    }
    slots.zero();
    partials.zero();
    array.zero();
    history.zero();
    watch.zero();
    own_slots.zero();
    published.zero();
    signals.zero();
    failure.zero();
}

std::unique_ptr<posted_sums> make_posted_sums(const communicator& comm,
                                              const execution_options& options) {
    if (comm.carrier() == nullptr) return nullptr;
    return std::make_unique<posted_sums>(comm, sent_to_one(options));
}

peer_memory addresses_of(const communicator& comm, const group_memory& memory) {
    const auto of = [&](int rank) -> const rank_memory& {
        return *memory[static_cast<std::size_t>(rank)];
    };
    const auto slots = by_rank(comm, [&](int rank) { return of(rank).own_slots.data(); });
    const auto failures = by_rank(comm, [&](int rank) { return of(rank).failure.data(); });
    return {comm.addresses(std::span(slots)), comm.addresses(std::span(failures))};
}

kernel_context connect(const communicator& comm, rank_memory& m, const peer_memory& peers,
                       posted_sums* posted, int rank, const execution_options& options) {
    std::vector<stamped_value*> peer_slots = peers.slots;
    std::vector<std::int32_t*> failures = peers.failures;
    for (std::size_t to = 0; to < peer_slots.size(); ++to) {
        const peer_path path = comm.path(rank, static_cast<int>(to));
        if (path == peer_path::direct) continue;
        if (path == peer_path::staged) peer_slots[to] = m.staging[to].data();
        failures[to] = m.failure.data();
    }
    if (posted != nullptr) peer_slots.front() = posted->outbox(rank);
    m.peer_slots = buffer<stamped_value*>(comm.handle(rank),
                                          std::span<stamped_value* const>(peer_slots), item);
    m.failures =
        buffer<std::int32_t*>(comm.handle(rank), std::span<std::int32_t* const>(failures), item);

    kernel_context context{};
    context.all_reduce.own_slots = peers.slots[static_cast<std::size_t>(rank)];
    context.all_reduce.inbox = posted != nullptr ? posted->inbox(rank) : nullptr;
    context.all_reduce.peer_slots = m.peer_slots.data();
    context.all_reduce.published = m.published.data();
    context.all_reduce.signals = m.signals.data();
    context.all_reduce.failure = m.failure.data();
    context.all_reduce.failures = m.failures.data();
    context.all_reduce.launching = comm.launching();
    context.all_reduce.timeout_ns = static_cast<std::uint64_t>(options.timeout_seconds * 1e9);
    context.all_reduce.ranks = comm.ranks();
    context.all_reduce.rank = rank;
    context.all_reduce.sources = sources_of(comm);
    context.all_reduce.capacity = static_cast<std::int32_t>(capacity(options));
    if (posted != nullptr) posted->connect(rank, context.all_reduce);
    context.slots = m.slots.data();
    context.array = m.array.data();
    context.history = {m.history.data(), recorded_iterations(options) - 1,
                       options.coefficients ? 3 : 1};
    context.partials = m.partials_of(0);
    context.partial_stride = reduction_blocks(comm[rank]);
    return context;
}

} // namespace krylith
