#include <krylith/vector/execution.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/vector/kernels.hpp>

namespace krylith {

namespace {

constexpr int first_temporary = 48;
static_assert(first_temporary > control::count && first_temporary < max_registers);

void enqueue_scalars(device& where, const scalar_arguments& a) {
#if KRYLITH_HAVE_CUDA
    if (where.kind() == backend::cuda) return cuda::scalars(where, a);
#endif
    host::scalars(where, a);
}

bool eager_by_environment() {
    const char* const value = std::getenv("KRYLITH_EXECUTION");
    return value != nullptr && std::string_view(value) == "eager";
}

std::uint64_t next_identity() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

template <class T>
std::vector<T> download(const buffer<T>& from, std::size_t first, std::size_t count,
                        device& where) {
    std::vector<T> values(count);
    if (count != 0) where.download(values.data(), from.data() + first, count * sizeof(T));
    return values;
}

} // namespace

struct execution::rank_memory {
    buffer<double> slots;
    buffer<double> array;
    buffer<double> history;
    buffer<double> partials;
    buffer<letter> inbox;
    std::vector<buffer<letter>> staging; // [to], empty where the path is direct
    buffer<letter*> outboxes;
    buffer<std::uint64_t> published;
    buffer<unsigned> arrivals;
    buffer<std::int32_t> failure;
    buffer<std::int32_t*> failures;
    std::unique_ptr<loop_graph> loop; // last: its destructor waits for the device
};

execution::execution(device_group group, const execution_options& options)
    : group_(std::move(group)),
      options_(options),
      mode_(options.mode),
      identity_(next_identity()),
      needed_(max_registers),
      assigned_(max_registers),
      parity_(max_registers) {
    if (options.unroll < 1)
        throw usage_error("execution_options::unroll must be at least 1, not " +
                          std::to_string(options.unroll));
    if (!(options.timeout_seconds > 0))
        throw usage_error("execution_options::timeout_seconds must be positive");
    if (mode_ == execution_mode::recorded && !group_.concurrent())
        throw usage_error("this device group can't run recorded: " + group_.serialised_because());
    if (mode_ == execution_mode::automatic)
        mode_ = group_.concurrent() && !eager_by_environment() ? execution_mode::recorded
                                                               : execution_mode::eager;

    const std::string item = "scalars";
    const int p = ranks();
    const auto capacity = static_cast<std::size_t>(std::max(options.largest_batch, max_sums));
    const std::size_t sent_to_one = 2 * capacity;
    for (int rank = 0; rank < p; ++rank) {
        const auto& d = group_.share(rank);
        auto m = std::make_unique<rank_memory>();
        m->slots = buffer<double>(d, std::size_t{2} * max_registers, item);
        m->array = buffer<double>(d, static_cast<std::size_t>(options.array_size), item);
        if (rank == 0)
            m->history = buffer<double>(d, static_cast<std::size_t>(options.history_size), item);
        m->partials =
            buffer<double>(d, capacity * static_cast<std::size_t>(reduction_blocks(*d)), item);
        m->inbox = buffer<letter>(d, sent_to_one * static_cast<std::size_t>(p), item);
        m->published = buffer<std::uint64_t>(d, 1, item);
        m->arrivals = buffer<unsigned>(d, 1, item);
        m->failure = buffer<std::int32_t>(d, 1, item);
        for (int to = 0; to < p; ++to) {
            const bool staged = group_.path(rank, to) == transport::staged;
            m->staging.emplace_back(d, staged ? sent_to_one * static_cast<std::size_t>(p) : 0,
                                    item);
            m->staging.back().zero();
        }
        m->slots.zero();
        m->partials.zero();
        m->array.zero();
        m->history.zero();
        m->inbox.zero();
        m->published.zero();
        m->arrivals.zero();
        m->failure.zero();
        memory_.push_back(std::move(m));
    }
    for (int rank = 0; rank < p; ++rank) {
        auto& m = *memory_[static_cast<std::size_t>(rank)];
        std::vector<letter*> outboxes;
        std::vector<std::int32_t*> failures;
        for (int to = 0; to < p; ++to) {
            auto& peer = *memory_[static_cast<std::size_t>(to)];
            const bool staged = group_.path(rank, to) == transport::staged;
            outboxes.push_back(staged ? m.staging[static_cast<std::size_t>(to)].data()
                                      : peer.inbox.data());
            failures.push_back(staged ? m.failure.data() : peer.failure.data());
        }
        m.outboxes = buffer<letter*>(group_.share(rank), std::span<letter* const>(outboxes), item);
        m.failures = buffer<std::int32_t*>(group_.share(rank),
                                           std::span<std::int32_t* const>(failures), item);

        frame f{};
        f.mail.inbox = m.inbox.data();
        f.mail.outboxes = m.outboxes.data();
        f.mail.published = m.published.data();
        f.mail.arrivals = m.arrivals.data();
        f.mail.failure = m.failure.data();
        f.mail.failures = m.failures.data();
        f.mail.timeout_ns = static_cast<std::uint64_t>(options.timeout_seconds * 1e9);
        f.mail.ranks = p;
        f.mail.rank = rank;
        f.mail.capacity = static_cast<std::int32_t>(capacity);
        f.slots = m.slots.data();
        f.array = m.array.data();
        f.history = m.history.data();
        f.partials = m.partials.data();
        f.partial_stride = reduction_blocks(group_[rank]);
        frames_.push_back(f);
    }
    expected_.resize(static_cast<std::size_t>(p));
    group_.synchronize(); // peers' inboxes are zero before anybody writes them
}

execution::~execution() {
    quiesce(); // kernels that still run use this memory
}

void execution::quiesce() noexcept {
    for (int rank = 0; rank < ranks(); ++rank) { // each, also after one has failed
        try {
            group_[rank].synchronize();
        } catch (...) { // NOLINT(bugprone-empty-catch): was, or will be, reported elsewhere
        }
    }
}

// --- scalars ----------------------------------------------------------------------------------

std::uint8_t execution::new_register() {
    if (next_register_ == first_temporary)
        throw usage_error("an execution has at most " +
                          std::to_string(first_temporary - control::count) + " scalars");
    return static_cast<std::uint8_t>(next_register_++);
}

std::uint8_t execution::temporary() {
    if (first_temporary + next_temporary_ == max_registers)
        throw usage_error("too much scalar arithmetic between two kernels: call flush()");
    return static_cast<std::uint8_t>(first_temporary + next_temporary_++);
}

std::uint8_t execution::constant(double value) {
    if (program_.immediate_count == max_immediates)
        throw usage_error("too many constants between two kernels: call flush()");
    const std::uint8_t index = program_.immediate_count++;
    program_.immediates[index] = value;
    const std::uint8_t to = temporary();
    record(scalar_opcode::set, to, index, 0);
    return to;
}

void execution::touch(std::uint8_t reg) {
    if (!assigned_[reg]) needed_[reg] = true;
}

void execution::mark_assigned(std::uint8_t reg) {
    assigned_[reg] = true;
}

void execution::record(scalar_opcode code, std::uint8_t to, std::uint8_t a, std::uint8_t b) {
    if (program_.instruction_count == max_instructions)
        throw usage_error("too much scalar arithmetic between two kernels: call flush()");
    program_.instructions[program_.instruction_count++] = {code, to, a, b};
    switch (code) {
    case scalar_opcode::set: mark_assigned(to); break;
    case scalar_opcode::copy:
    case scalar_opcode::square_root:
    case scalar_opcode::negate:
        touch(a);
        mark_assigned(to);
        break;
    case scalar_opcode::add:
    case scalar_opcode::subtract:
    case scalar_opcode::multiply:
    case scalar_opcode::divide:
    case scalar_opcode::divide_or_zero:
        touch(a);
        touch(b);
        mark_assigned(to);
        break;
    case scalar_opcode::test:
    case scalar_opcode::estimate:
    case scalar_opcode::finish:
        touch(a);
        for (const auto reg :
             {control::state, control::iteration, control::target, control::limit, control::ceiling,
              control::best, control::best_at, control::patience})
            touch(reg);
        for (const auto reg : {control::state, control::iteration, control::residual, control::best,
                               control::best_at})
            mark_assigned(reg);
        break;
    case scalar_opcode::nonzero: touch(to); [[fallthrough]];
    case scalar_opcode::positive: touch(a); [[fallthrough]];
    case scalar_opcode::pause:
        touch(control::iteration);
        touch(control::pause_at);
        [[fallthrough]];
    case scalar_opcode::stop:
        touch(control::state);
        mark_assigned(control::state);
        break;
    }
}

void execution::assign(std::uint8_t to, std::uint8_t from) {
    record(scalar_opcode::copy, to, from, 0);
}

void execution::take(std::uint8_t to, std::uint8_t from) {
    if (from >= first_temporary && program_.instruction_count > 0) {
        auto& last = program_.instructions[program_.instruction_count - 1];
        const bool makes_value = last.code <= scalar_opcode::negate;
        if (makes_value && last.to == from && from == first_temporary + next_temporary_ - 1) {
            last.to = to;
            assigned_[from] = false;
            --next_temporary_;
            mark_assigned(to);
            return;
        }
    }
    assign(to, from);
}

// --- kernels ----------------------------------------------------------------------------------

void execution::take_program(const std::vector<std::uint8_t>* closing_parity) {
    program_.load_count = 0;
    program_.store_count = 0;
    needed_[control::state] = true; // the guard
    for (int i = 0; i < max_registers; ++i) {
        const auto reg = static_cast<std::size_t>(i);
        const bool named = i < first_temporary;
        // A closing kernel has one thread, so it may store where it loads from.
        const bool moves = closing_parity != nullptr && parity_[reg] != (*closing_parity)[reg];
        const bool stores = named && (assigned_[reg] || moves);
        if (named && (needed_[reg] || stores))
            program_.loads[program_.load_count++] = {
                static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(2 * i + parity_[reg])};
        if (!stores) continue;
        parity_[reg] = closing_parity != nullptr ? (*closing_parity)[reg]
                                                 : static_cast<std::uint8_t>(parity_[reg] ^ 1);
        program_.stores[program_.store_count++] = {static_cast<std::uint8_t>(i),
                                                   static_cast<std::uint8_t>(2 * i + parity_[reg])};
    }
    for (std::size_t i = 0; i < batch_registers_.size(); ++i)
        program_.sums[i] = batch_registers_[i];

    for (int rank = 0; rank < ranks(); ++rank) {
        frame& f = frames_[static_cast<std::size_t>(rank)];
        f.program = program_;
        f.batch = batch_;
        f.batch_array = batch_array_;
        f.guarded = guarded_;
        const auto& waits = expected_[static_cast<std::size_t>(rank)];
        f.arrival_count = static_cast<std::int32_t>(waits.size());
        std::copy(waits.begin(), waits.end(), f.arrivals);
    }
    program_ = {};
    needed_.assign(max_registers, false);
    assigned_.assign(max_registers, false);
    next_temporary_ = 0;
    batch_ = 0;
    batch_array_ = -1;
    batch_registers_.clear();
    for (auto& waits : expected_) waits.clear();
}

void execution::open(std::span<const std::uint8_t> used) {
    for (const auto reg : used) touch(reg);
    if (program_bytes() > kernel_program_bytes) {
        // Registers that the kernel uses must survive the kernel that runs the program.
        for (const auto reg : used)
            if (reg >= first_temporary)
                throw usage_error("too much scalar arithmetic before a kernel: assign its "
                                  "coefficients to scalars");
        settle(parity_);
        for (const auto reg : used) touch(reg);
    }
    if (batch_ != 0 || !expected_.front().empty()) join_if_ordered();
    take_program(nullptr);
    publishing_ = false;
}

void execution::open(std::span<const std::uint8_t> registers, std::span<std::uint8_t> slots) {
    open(registers);
    for (std::size_t i = 0; i < registers.size(); ++i)
        slots[i] = static_cast<std::uint8_t>(2 * registers[i] + parity_[registers[i]]);
}

int execution::program_bytes() const {
    int places = 0;
    for (std::size_t reg = 0; reg < first_temporary; ++reg)
        places += (needed_[reg] || assigned_[reg] || reg == control::state ? 2 : 0) +
                  (assigned_[reg] ? 2 : 0);
    // With the padding that alignment may need.
    return max_sums + places + 4 + 4 * program_.instruction_count + 8 +
           8 * program_.immediate_count;
}

void execution::publish(std::span<const std::uint8_t> registers) {
    if (registers.size() > max_sums)
        throw usage_error("one pass reduces at most " + std::to_string(max_sums) + " scalars");
    batch_ = static_cast<int>(registers.size());
    batch_array_ = -1;
    batch_registers_.assign(registers.begin(), registers.end());
    for (const auto reg : registers) mark_assigned(reg);
    publishing_ = batch_ != 0;
}

void execution::publish_array(int first, int count) {
    if (count > std::max(options_.largest_batch, max_sums))
        throw usage_error("execution_options::largest_batch is " +
                          std::to_string(options_.largest_batch) + ", but a pass reduces " +
                          std::to_string(count) + " values");
    batch_ = count;
    batch_array_ = first;
    publishing_ = count != 0;
}

reduction execution::partials(int rank) const {
    return {memory_[static_cast<std::size_t>(rank)]->partials.data(), publishing_ ? batch_ : 0};
}

void execution::close() {
    if (!publishing_) return;
    publishing_ = false;
    for (int from = 0; from < ranks(); ++from)
        for (int to = 0; to < ranks(); ++to) {
            if (group_.path(from, to) != transport::staged) continue;
            const auto& m = *memory_[static_cast<std::size_t>(from)];
            const auto first = frames_[static_cast<std::size_t>(from)].mail.at(0, 0, from);
            const auto count =
                std::size_t{2} * static_cast<std::size_t>(frames_.front().mail.capacity);
            group_.copy(from, m.staging[static_cast<std::size_t>(to)].data() + first, to,
                        memory_[static_cast<std::size_t>(to)]->inbox.data() + first,
                        count * sizeof(letter));
        }
}

void execution::expect(const std::vector<arrival>& by_rank) {
    if (expected_.front().size() == max_arrivals) flush();
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
        expected_[rank].push_back(by_rank[rank]);
}

void execution::join_if_ordered() {
    if (ordered()) group_.join();
}

bool execution::pending() const {
    return program_.instruction_count != 0 || batch_ != 0 || !expected_.front().empty();
}

void execution::flush() {
    if (pending()) settle(parity_);
}

void execution::settle(std::vector<std::uint8_t> parity) {
    if (batch_ != 0 || !expected_.front().empty()) join_if_ordered();
    take_program(&parity);
    for (int rank = 0; rank < ranks(); ++rank) enqueue_scalars(group_[rank], {at(rank), 0, {}});
}

void execution::unguarded(const std::function<void()>& body) {
    const bool before = guarded_;
    guarded_ = false;
    body();
    guarded_ = before;
}

void execution::compute(const array_task& task, std::span<const std::uint8_t> registers) {
    if (batch_ != 0 || !expected_.front().empty()) join_if_ordered();
    const auto in_place = parity_;
    take_program(&in_place);
    scalar_arguments a{};
    a.task = task;
    for (std::size_t role = 0; role < registers.size(); ++role)
        a.task.slots[role] =
            static_cast<std::uint8_t>(2 * registers[role] + parity_[registers[role]]);
    for (int rank = 0; rank < ranks(); ++rank) {
        a.common = at(rank);
        enqueue_scalars(group_[rank], a);
    }
}

// --- loop -------------------------------------------------------------------------------------

void execution::set(std::uint8_t reg, double value) {
    if (program_.immediate_count == max_immediates ||
        program_.instruction_count + 2 >= max_instructions)
        unguarded([&] { flush(); });
    take(reg, constant(value));
}

double execution::get(std::uint8_t reg) {
    return get({reg}).front();
}

std::vector<double> execution::get(std::initializer_list<std::uint8_t> regs) {
    unguarded([&] { flush(); });
    group_.synchronize();
    check_failures();
    const auto slots =
        download(memory_.front()->slots, 0, std::size_t{2} * max_registers, group_[0]);
    std::vector<double> values;
    for (const auto reg : regs) values.push_back(slots[std::size_t{2} * reg + parity_[reg]]);
    return values;
}

void execution::check_failures() {
    for (int rank = 0; rank < ranks(); ++rank) {
        const auto failed =
            download(memory_[static_cast<std::size_t>(rank)]->failure, 0, 1, group_[rank]).front();
        if (failed != 0)
            throw communication_error("rank " + std::to_string(failed - 1) +
                                      " of the device group (" + group_[failed - 1].description() +
                                      ") did not answer within " +
                                      std::to_string(options_.timeout_seconds) + " s");
    }
}

void execution::record_iteration(const std::function<void()>& body) {
    body();
    record(scalar_opcode::pause, control::state, control::iteration, 0);
}

void execution::record_turn(const std::function<void()>& body) {
    recorded_parity_ = parity_;
    try {
        for (int rank = 0; rank < ranks(); ++rank) {
            auto& loop = memory_[static_cast<std::size_t>(rank)]->loop;
            loop = group_[rank].make_loop();
            loop->begin_recording();
        }
        recording_ = true;
        for (int i = 0; i < options_.unroll; ++i) record_iteration(body);
        take_program(&recorded_parity_);
        for (int rank = 0; rank < ranks(); ++rank)
            enqueue_scalars(
                group_[rank],
                {at(rank), memory_[static_cast<std::size_t>(rank)]->loop->condition(), {}});
    } catch (...) {
        recording_ = false;
        for (auto& m : memory_) m->loop.reset();
        throw;
    }
    recording_ = false;
    for (auto& m : memory_) m->loop->end_recording();
}

void execution::prepare(const std::function<void()>& body) {
    if (mode_ == execution_mode::eager || memory_.front()->loop) return;
    unguarded([&] { flush(); });
    record_turn(body);
    group_.synchronize(); // graphs are on their devices: from here on nothing but launches
}

loop_report execution::repeat(const std::function<void()>& body) {
    unguarded([&] { flush(); });
    if (mode_ == execution_mode::eager) {
        loop_report now;
        do {
            for (int i = 0; i < options_.unroll; ++i) record_iteration(body);
            flush();
            now = report();
        } while (now.state == loop_state::running);
        return now;
    }
    prepare(body);
    if (parity_ != recorded_parity_) unguarded([&] { settle(recorded_parity_); });
    group_.join();
    for (auto& m : memory_) m->loop->launch();
    return report();
}

loop_report execution::report() {
    group_.synchronize();
    check_failures();
    const auto slots =
        download(memory_.front()->slots, 0, std::size_t{2} * control::count, group_[0]);
    const auto value = [&](std::uint8_t reg) { return slots[std::size_t{2} * reg + parity_[reg]]; };
    return {static_cast<loop_state>(static_cast<std::uint8_t>(value(control::state))),
            static_cast<std::int64_t>(value(control::iteration)), value(control::residual)};
}

std::vector<double> execution::history(std::int64_t count) {
    group_.synchronize();
    return download(memory_.front()->history, 0, static_cast<std::size_t>(count), group_[0]);
}

void execution::set_history(std::int64_t iteration, double value) {
    if (options_.history_size == 0) return;
    group_[0].upload(memory_.front()->history.data() + iteration, &value, sizeof value);
}

} // namespace krylith
