#include <krylith/solvers/persistent/persistent_loop.hpp>

#include <algorithm>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/solvers/persistent/persistent_kernel.hpp>
#include <krylith/spmv/table/operators.hpp>

namespace krylith {

static_assert(no_scale == no_register);

void refuse_persistent_cg(const std::string& why_not) {
    throw usage_error("persistent CG can't run: " + why_not + "; cg() can");
}

std::int64_t persistent_rows(const device& device) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return std::int64_t{cuda::persistent_slices(device)} * persistent_threads *
               std::min(cuda::multiprocessors(device), most_persistent_blocks);
#endif
    (void)device;
    return 0;
}

namespace {

/// Returns what the first rank that has a reason says, so that all drivers decide alike.
template <class Reason>
std::string first_reason(const communicator& comm, const Reason& of_rank) {
    auto reasons = by_rank(comm, [&](int rank) {
        const std::string why = of_rank(rank);
        return std::vector<char>(why.begin(), why.end());
    });
    comm.all_gather_lists(reasons);
    const auto first = std::ranges::find_if(reasons, [](const auto& why) { return !why.empty(); });
    return first == reasons.end() ? "" : std::string(first->begin(), first->end());
}

/// The bytes of a device's block of the matrix up to which persistent kernels win: what its caches
/// hold, more or less. With 7 nonzeros a row all rows that fit are below it.
constexpr std::int64_t most_persistent_bytes = std::int64_t{64} << 20;

} // namespace

template <class T>
std::string not_persistent_because(const matrix_operator<T>& a) {
    if (!a.layouts().square()) return "x and y = A x must be of one layout";
    const communicator& comm = a.comm();
    if (comm.kind() != backend::cuda) return "it needs CUDA devices";
    if (!comm.concurrent()) return comm.serialised_because();
    if (comm.carrier() != nullptr) return "its ranks are on several machines";
    const bool whole = comm.ranks() == 1 && a.layout()->kind == coherence::owned;
    if (!a.kind()->persistent && !whole)
        return std::string("the operator is ") + to_string(a.kind()) + ", it must be " +
               listed<operator_method>(operators::all,
                                       [](operator_kind kind) { return kind->persistent; });
    return first_reason(comm, [&](int rank) -> std::string {
        if (a.block(rank).slices() == nullptr)
            return "the format is " + a.block(rank).name() + ", it must be " +
                   listed<format_method>(formats::all,
                                         [](format_kind kind) { return kind->persistent; });
        const std::int64_t rows = a.layout()->rows.owned(rank).size();
        const std::int64_t most = persistent_rows(comm[rank]);
        if (rows <= most) return "";
        return comm[rank].description() + " has " + std::to_string(rows) +
               " rows, its multiprocessors hold " + std::to_string(most);
    });
}

template <class T>
std::string persistent_not_worth_because(const matrix_operator<T>& a, execution_mode mode) {
    if (mode != execution_mode::automatic) return "solver_options::mode asks for it";
    // Of groups that can't record not_persistent_because() says why.
    const bool eager = a.comm().concurrent() && automatic_mode(a.comm()) == execution_mode::eager;
    return first_reason(a.comm(), [&](int rank) -> std::string {
        if (eager) return "the environment asks for eager execution";
        const std::int64_t bytes = a.matrix_bytes(rank);
        if (bytes <= most_persistent_bytes) return "";
        return "a device's block of the matrix has " + std::to_string(bytes) + " bytes, at most " +
               std::to_string(most_persistent_bytes) + " are worth persistent kernels";
    });
}

template <class T>
struct persistent_loop<T>::rank_state {
    buffer<direction_pair<T>> pairs;
    buffer<stamped_value> ghosts;
    buffer<stamped_value*> peer_ghosts;
    buffer<std::int32_t> first_send;
    buffer<persistent_send> sends;
    buffer<stamped_value> own_slots;
    buffer<stamped_value*> peer_slots;
    buffer<std::uint64_t> last_epoch;
#if KRYLITH_HAVE_CUDA
    cuda::persistent_shape shape;
#endif
};

#if KRYLITH_HAVE_CUDA

namespace {

/// The places of each row's pair at peers.
struct send_list {
    std::vector<std::int32_t> first;
    std::vector<persistent_send> sends;
};

template <class T>
send_list sort_by_row(const put_schedule<T>& schedule, int rank) {
    const layout& layout = *schedule.layout();
    const std::int64_t rows = layout.held(rank);
    std::vector<put_entry> entries = schedule.local(rank).entries.download();
    std::sort(entries.begin(), entries.end(), [](const put_entry& a, const put_entry& b) {
        return a.row != b.row ? a.row < b.row : a.receiver < b.receiver;
    });
    send_list list;
    list.first.resize(static_cast<std::size_t>(rows) + 1);
    for (const put_entry& e : entries) {
        ++list.first[static_cast<std::size_t>(e.row) + 1];
        // Pairs are of ghosts alone, without the entries that the peer owns.
        const int peer = schedule.local(rank).messages[static_cast<std::size_t>(e.receiver)].peer;
        const std::int64_t below = schedule.below(peer);
        const std::int64_t owned = e.position < 0 ? 0 : layout.held(peer);
        list.sends.push_back({peer, static_cast<std::int32_t>(e.position + below - owned)});
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
        list.first[i + 1] += list.first[i];
    return list;
}

} // namespace

template <class T>
persistent_loop<T>::persistent_loop(const matrix_operator<T>& a) : a_(a) {
    const std::string why_not = not_persistent_because(a);
    if (!why_not.empty()) refuse_persistent_cg(why_not);
    const layout& layout = *a.layout();
    const communicator& comm = layout.comm;
    const put_schedule<T>* const sends = a.sends();
    const std::string item = "persistent CG";
    const auto p = static_cast<std::size_t>(comm.ranks());
    ranks_ = by_rank(comm, [&](int rank) {
        const auto& d = comm.handle(rank);
        const std::int64_t rows = layout.rows.owned(rank).size();
        auto s = std::make_unique<rank_state>();
        s->pairs = buffer<direction_pair<T>>(d, static_cast<std::size_t>(rows), item);
        s->own_slots =
            buffer<stamped_value>(d, 2 * p * persistent_sums * most_persistent_blocks, item);
        s->last_epoch = buffer<std::uint64_t>(d, 1, item);
        if (sends != nullptr) {
            const auto& part = sends->local(rank);
            s->ghosts = buffer<stamped_value>(d, static_cast<std::size_t>(2 * part.ghosts), item);
            const send_list list = sort_by_row(*sends, rank);
            s->first_send = buffer<std::int32_t>(d, std::span(list.first), item);
            s->sends = buffer<persistent_send>(d, std::span(list.sends), item);
        }
        s->pairs.zero();
        s->own_slots.zero();
        s->last_epoch.zero();
        s->ghosts.zero();
        s->shape =
            cuda::shape_of_persistent(comm[rank], a.block(rank).slices()->slices,
                                      a.block(rank).slices()->bytes, sizeof(direction_pair<T>));
        return s;
    });
    const auto of = [&](int rank) -> rank_state& {
        return *ranks_[static_cast<std::size_t>(rank)];
    };
    const auto at_peers = [&](buffer<stamped_value> rank_state::*memory) {
        const auto own = by_rank(comm, [&](int rank) { return (of(rank).*memory).data(); });
        return comm.addresses(std::span<stamped_value* const>(own));
    };
    const auto slots = at_peers(&rank_state::own_slots);
    const auto ghosts = at_peers(&rank_state::ghosts);
    blocks_ = by_rank(comm, [&](int rank) { return of(rank).shape.blocks; });
    comm.all_gather(blocks_);
    for (const int rank : comm.local()) {
        of(rank).peer_slots = buffer<stamped_value*>(comm.handle(rank), std::span(slots), item);
        of(rank).peer_ghosts = buffer<stamped_value*>(comm.handle(rank), std::span(ghosts), item);
    }
    comm.synchronize_all(); // peers may write only after it is zero
}

template <class T>
void persistent_loop<T>::enqueue(execution& run, T alpha, vector<T>& x, vector<T>& r,
                                 const vector<T>* inverse, const persistent_registers& registers) {
    std::vector<std::uint8_t> used = {
        control::state, control::iteration, control::residual, control::best,    control::best_at,
        registers.rho,  registers.beta,     control::posted,   control::watched, control::target,
        control::limit, control::pause_at,  control::ceiling,  control::patience};
    if (registers.scale != no_register) used.push_back(registers.scale);
    std::vector<std::uint8_t> slots(used.size());
    run.open(used, slots);
    run.join_opened(); // orders the kernels after what peers still do with buffers, x and r
    const auto launch = [&](int rank) {
        const rank_state& s = *ranks_[static_cast<std::size_t>(rank)];
        persistent_arguments<T> o{};
        o.matrix = *a_.block(rank).slices();
        o.alpha = alpha;
        o.x = x.data(rank);
        o.r = r.data(rank);
        o.inverse = inverse != nullptr ? inverse->data(rank) : nullptr;
        o.pairs = s.pairs.data();
        o.ghosts = s.ghosts.data();
        o.peer_ghosts = s.peer_ghosts.data();
        o.first_send = s.first_send.data();
        o.sends = s.sends.data();
        o.own_slots = s.own_slots.data();
        o.peer_slots = s.peer_slots.data();
        o.last_epoch = s.last_epoch.data();
        o.watch = run.watch(rank);
        std::ranges::copy(blocks_, o.blocks);
        o.rows = static_cast<std::int32_t>(a_.layout()->rows.owned(rank).size());
        o.pool_bytes = s.shape.pool_bytes;
        o.rho = registers.rho;
        o.beta = registers.beta;
        o.scale = registers.scale;
        std::copy_n(slots.begin(), persistent_results, o.slots);
        cuda::persistent_cg(run.comm()[rank], run.at(rank), o, s.shape);
    };
    run.comm().launch_together([&] {
        for (const int rank : run.comm().local()) launch(rank);
    });
    run.close();
}

#else

template <class T>
persistent_loop<T>::persistent_loop(const matrix_operator<T>& a) : a_(a) {
    refuse_persistent_cg(not_persistent_because(a));
}

template <class T>
void persistent_loop<T>::enqueue(execution&, T, vector<T>&, vector<T>&, const vector<T>*,
                                 const persistent_registers&) {}

#endif

template <class T>
persistent_loop<T>::~persistent_loop() = default;

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class persistent_loop<T>;                                                             \
    template struct instances<not_persistent_because<T>, persistent_not_worth_because<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
