#include <krylith/vector/execution.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include <krylith/comm/channel/posted_routes.hpp>
#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/vector/execution/execution_memory.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

namespace {

/// The mode that execution_mode::automatic stands for; automatic where the environment names none.
execution_mode mode_by_environment() {
    const char* const value = std::getenv("KRYLITH_EXECUTION"); // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = value == nullptr ? "" : value;
    if (name.empty() || name == "auto") return execution_mode::automatic;
    if (name == "eager") return execution_mode::eager;
    throw usage_error("the environment variable KRYLITH_EXECUTION is '" + std::string(name) +
                      "': allowed are auto and eager");
}

} // namespace

std::uint64_t execution::next_identity() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

execution_mode automatic_mode(const communicator& comm) {
    const execution_mode asked = mode_by_environment();
    return asked == execution_mode::automatic && comm.concurrent() ? execution_mode::recorded
                                                                   : execution_mode::eager;
}

execution::execution(communicator comm, const execution_options& options)
    : comm_(std::move(comm)), options_(options), mode_(options.mode), identity_(next_identity()) {
    if (options.unroll < 1)
        throw usage_error("execution_options::unroll must be at least 1, not " +
                          std::to_string(options.unroll));
    if (!(options.timeout_seconds > 0 && options.timeout_seconds <= longest_timeout))
        throw usage_error("timeout_seconds = " + number_text(options.timeout_seconds) +
                          " is not allowed: more than 0, at most " + number_text(longest_timeout));
    if (mode_ == execution_mode::recorded && !comm_.concurrent())
        throw usage_error("this device group can't run recorded: " + comm_.serialised_because());
    if (mode_ == execution_mode::automatic) mode_ = automatic_mode(comm_);

    driver_.emplace(comm_.devices());
    comm_.together([&] {
        memory_ = by_rank(
            comm_, [&](int rank) { return std::make_unique<rank_memory>(comm_, rank, options); });
        posted_sums_ = make_posted_sums(comm_, options);
        const peer_memory peers = addresses_of(comm_, memory_);
        peer_slots_ = peers.slots;
        contexts_ = by_rank(comm_, [&](int rank) {
            return connect(comm_, memory(rank), peers, posted_sums_.get(), rank, options);
        });
        expected_.resize(static_cast<std::size_t>(ranks()));
        comm_.synchronize_all(); // the slots of all ranks are zero before any peer writes them
    });
}

execution::~execution() {
    // An exception may have left some devices with more work than others.
    if (std::uncaught_exceptions() != 0 && comm_.has_one_driver()) comm_.note_failure();
    quiesce();            // kernels that still run use this memory
    stop_routes_.reset(); // before what messages are handed to
    posted_sums_.reset();
}

void execution::quiesce() noexcept {
    for (const int rank : comm_.local()) { // waits for each, also after one has failed
        try {
            comm_[rank].synchronize();
        } catch (...) { // NOLINT(bugprone-empty-catch): the failure is reported elsewhere
        }
    }
}

/// Eager kernels that wait for other machines come one by one: behind one that waits for what this
/// thread carries the runtime may block it, as where it loads a kernel for the first time.
void execution::serve_posted() {
    if (posted_sums_ == nullptr || recording_) return;
    for (const int rank : comm_.local()) comm_[rank].serve_while_busy();
}

void execution::fill_contexts(scalar_program program) {
    serve_posted();
    for (std::size_t i = 0; i < batch_registers_.size(); ++i) program.sums[i] = batch_registers_[i];
    for (const int rank : comm_.local()) {
        kernel_context& context = contexts_[static_cast<std::size_t>(rank)];
        context.program = program;
        context.batch = batch_;
        context.batch_array = batch_array_;
        context.partials = memory(rank).partials_of(half_);
        context.guarded = guarded_;
        auto& waits = expected_[static_cast<std::size_t>(rank)];
        context.signal_count = static_cast<std::int32_t>(waits.size());
        std::copy(waits.begin(), waits.end(), context.signals);
        waits.clear();
    }
    batch_ = 0;
    batch_array_ = -1;
    batch_registers_.clear();
}

void execution::open(std::span<const std::uint8_t> used, int program_bytes) {
    if (!recording_) comm_.restore();
    for (const auto reg : used) scalars_.need(reg);
    if (scalars_.bytes() > program_bytes) {
        // Registers that the kernel uses must outlive the kernel that runs the program.
        for (const auto reg : used)
            if (program_recorder::is_temporary(reg))
                throw usage_error("too much scalar arithmetic before a kernel: assign its "
                                  "coefficients to scalars");
        settle(scalars_.places());
        for (const auto reg : used) scalars_.need(reg);
    }
    opened_joined_ = awaited();
    join_if_awaited();
    fill_contexts(scalars_.finish());
    publishing_ = false;
}

void execution::open(std::span<const std::uint8_t> registers, std::span<std::uint8_t> slots) {
    open(registers, longest_program_bytes);
    for (std::size_t i = 0; i < registers.size(); ++i) slots[i] = scalars_.slot(registers[i]);
}

void execution::publish(std::span<const std::uint8_t> registers) {
    if (registers.size() > max_sums)
        throw usage_error("one pass reduces at most " + std::to_string(max_sums) + " scalars");
    batch_ = static_cast<int>(registers.size());
    batch_array_ = -1;
    batch_registers_.assign(registers.begin(), registers.end());
    for (const auto reg : registers) scalars_.mark_assigned(reg);
    publishing_ = batch_ != 0;
    half_ ^= 1;
}

void execution::publish_array(int first, int count) {
    if (count > std::max(options_.largest_batch, max_sums))
        throw usage_error("execution_options::largest_batch is " +
                          std::to_string(options_.largest_batch) + ", but a pass reduces " +
                          std::to_string(count) + " values");
    batch_ = count;
    batch_array_ = first;
    publishing_ = count != 0;
    half_ ^= 1;
}

reduction execution::partials(int rank) const {
    return {memory(rank).partials_of(half_), publishing_ ? batch_ : 0};
}

void execution::close() {
    serve_posted();
    if (!publishing_) return;
    publishing_ = false;
    if (comm_.concurrent()) return;
    for (const int from : comm_.local())
        for (int to = 0; to < ranks(); ++to) {
            if (comm_.path(from, to) != peer_path::staged) continue;
            const all_reduce_slots& slots = at(from).all_reduce;
            const auto first = slots.at(0, 0, from);
            const auto count = std::size_t{2} * static_cast<std::size_t>(slots.capacity);
            comm_.copy(from, memory(from).staging[static_cast<std::size_t>(to)].data() + first, to,
                       peer_slots_[static_cast<std::size_t>(to)] + first,
                       count * sizeof(stamped_value));
        }
}

void execution::expect(const std::vector<put_signal>& signals) {
    if (expected_[static_cast<std::size_t>(first())].size() == max_signals) flush();
    for (const int rank : comm_.local())
        expected_[static_cast<std::size_t>(rank)].push_back(
            signals[static_cast<std::size_t>(rank)]);
}

void execution::join_if_ordered() {
    if (ordered()) comm_.join();
}

void execution::join_opened() {
    if (!opened_joined_) join_if_ordered();
}

bool execution::awaited() const {
    return batch_ != 0 || !expected_[static_cast<std::size_t>(first())].empty();
}

void execution::join_if_awaited() {
    if (awaited()) join_if_ordered();
}

bool execution::pending() const {
    return !scalars_.empty() || awaited();
}

void execution::flush() {
    if (pending()) settle(scalars_.places());
}

void execution::settle(const register_places& closing) {
    if (!recording_) comm_.restore();
    join_if_awaited();
    fill_contexts(scalars_.finish(closing));
    for (const int rank : comm_.local()) enqueue_scalars(rank, 0, {});
    serve_posted();
}

void execution::unguarded(const std::function<void()>& body) {
    const bool before = guarded_;
    guarded_ = false;
    body();
    guarded_ = before;
}

void execution::enqueue_scalars(int rank, std::uint64_t condition, const trip_end& end,
                                const register_post& post) {
    const scalar_arguments a{at(rank), condition, end, post};
    device& device = comm_[rank];
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::scalars(device, a);
#endif
    host::scalars(device, a);
}

} // namespace krylith
