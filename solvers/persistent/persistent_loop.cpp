#include <krylith/solvers/persistent/persistent_loop.hpp>

#include <algorithm>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/solvers/persistent/persistent_kernel.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda/cuda_runtime.hpp>
#endif

namespace krylith {

static_assert(no_scale == no_register);

std::int64_t resident_rows(const device& where) {
#if KRYLITH_HAVE_CUDA
    if (where.kind() == backend::cuda)
        return std::int64_t{cuda::resident_slices(where)} * resident_threads *
               std::min(cuda::multiprocessors(where), most_resident_blocks);
#endif
    (void)where;
    return 0;
}

template <class T>
std::string not_resident_because(const matrix_operator<T>& a) {
    const device_group& group = a.share_layout()->group;
    if (group.kind() != backend::cuda) return "it needs CUDA devices";
    if (!group.concurrent()) return group.serialised_because();
    const bool whole = group.size() == 1 && a.share_layout()->kind == coherence::owned;
    if (a.kind() != operator_kind::halo && !whole)
        return std::string("the operator is ") + to_string(a.kind()) + ", it must be halo";
    for (int rank = 0; rank < group.size(); ++rank) {
        if (a.block(rank).slices() == nullptr)
            return "the local kernel is " + a.block(rank).name() + ", it must be sell";
        const std::int64_t rows = a.share_layout()->rows.owned(rank).size();
        const std::int64_t most = resident_rows(group[rank]);
        if (rows > most)
            return group[rank].description() + " has " + std::to_string(rows) +
                   " rows, its multiprocessors hold " + std::to_string(most);
    }
    return "";
}

template <class T>
struct resident_loop<T>::rank_state {
    buffer<direction_pair<T>> pairs;
    buffer<letter> ghosts;
    buffer<letter*> peer_ghosts;
    buffer<std::int32_t> first_send;
    buffer<resident_send> sends;
    buffer<letter> board;
    buffer<letter*> boards;
    buffer<std::uint64_t> exchanges;
#if KRYLITH_HAVE_CUDA
    cuda::resident_shape shape;
#endif
};

#if KRYLITH_HAVE_CUDA

namespace {

/// By row: where its pair goes.
struct send_list {
    std::vector<std::int32_t> first;
    std::vector<resident_send> sends;
};

send_list sort_by_row(std::vector<push_entry> entries, std::int64_t rows) {
    std::sort(entries.begin(), entries.end(), [](const push_entry& a, const push_entry& b) {
        return a.row != b.row ? a.row < b.row : a.peer < b.peer;
    });
    send_list list;
    list.first.resize(static_cast<std::size_t>(rows) + 1);
    for (const push_entry& e : entries) {
        ++list.first[static_cast<std::size_t>(e.row) + 1];
        list.sends.push_back({e.peer, e.position});
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
        list.first[i + 1] += list.first[i];
    return list;
}

} // namespace

template <class T>
resident_loop<T>::resident_loop(const matrix_operator<T>& a) : a_(a) {
    const std::string why_not = not_resident_because(a);
    if (!why_not.empty())
        throw usage_error("resident CG can't run: " + why_not + "; cg() and automatic_cg() can");
    const layout& where = *a.share_layout();
    const device_group& group = where.group;
    const auto* halo = dynamic_cast<const halo_operator<T>*>(&a);
    const push_schedule<T>* sends = halo != nullptr ? halo->sends() : nullptr;
    const std::string item = "resident CG";
    const auto p = static_cast<std::size_t>(group.size());
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto& d = group.share(rank);
        const std::int64_t rows = where.rows.owned(rank).size();
        auto s = std::make_unique<rank_state>();
        s->pairs = buffer<direction_pair<T>>(d, static_cast<std::size_t>(rows), item);
        s->board = buffer<letter>(d, 2 * p * resident_sums * most_resident_blocks, item);
        s->exchanges = buffer<std::uint64_t>(d, 1, item);
        if (sends != nullptr) {
            const auto& part = sends->part(rank);
            s->ghosts = buffer<letter>(d, static_cast<std::size_t>(2 * part.ghosts), item);
            const send_list list = sort_by_row(part.entries.download(), rows);
            s->first_send = buffer<std::int32_t>(d, std::span(list.first), item);
            s->sends = buffer<resident_send>(d, std::span(list.sends), item);
        }
        s->pairs.zero();
        s->board.zero();
        s->exchanges.zero();
        s->ghosts.zero();
        s->shape = cuda::shape_of_resident(group[rank], a.block(rank).slices()->slices,
                                           a.matrix_bytes(rank), sizeof(direction_pair<T>));
        ranks_.push_back(std::move(s));
    }
    for (int rank = 0; rank < group.size(); ++rank) {
        rank_state& s = *ranks_[static_cast<std::size_t>(rank)];
        std::vector<letter*> boards;
        std::vector<letter*> ghosts;
        for (const auto& peer : ranks_) {
            boards.push_back(peer->board.data());
            ghosts.push_back(peer->ghosts.data());
        }
        s.boards = buffer<letter*>(group.share(rank), std::span(boards), item);
        s.peer_ghosts = buffer<letter*>(group.share(rank), std::span(ghosts), item);
    }
    group.synchronize(); // zero before any peer writes
}

template <class T>
void resident_loop<T>::enqueue(execution& run, T alpha, vector<T>& x, vector<T>& r,
                               const vector<T>* inverse, const resident_registers& registers) {
    std::vector<std::uint8_t> used = {control::state,    control::iteration, control::residual,
                                      control::best,     control::best_at,   registers.rho,
                                      registers.beta,    control::target,    control::limit,
                                      control::pause_at, control::ceiling,   control::patience};
    if (registers.scale != no_register) used.push_back(registers.scale);
    std::vector<std::uint8_t> slots(used.size());
    run.open(used, slots);
    run.join_if_ordered(); // peers' buffers, x and r are as they should be
    const auto launch = [&](int rank) {
        const rank_state& s = *ranks_[static_cast<std::size_t>(rank)];
        resident_operands<T> o{};
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
        o.board = s.board.data();
        o.boards = s.boards.data();
        o.exchanges = s.exchanges.data();
        for (int other = 0; other < run.ranks(); ++other)
            o.blocks[other] = ranks_[static_cast<std::size_t>(other)]->shape.blocks;
        o.rows = static_cast<std::int32_t>(a_.share_layout()->rows.owned(rank).size());
        o.pool_bytes = s.shape.pool_bytes;
        o.rho = registers.rho;
        o.beta = registers.beta;
        o.scale = registers.scale;
        std::copy_n(slots.begin(), resident_results, o.slots);
        cuda::resident_cg(run.group()[rank], run.at(rank), o, s.shape);
    };
    run.group().launch_together([&] {
        for (int rank = 0; rank < run.ranks(); ++rank) launch(rank);
    });
    run.close();
}

#else

template <class T>
resident_loop<T>::resident_loop(const matrix_operator<T>& a) : a_(a) {
    throw usage_error("resident CG can't run: " + not_resident_because(a) +
                      "; cg() and automatic_cg() can");
}

template <class T>
void resident_loop<T>::enqueue(execution&, T, vector<T>&, vector<T>&, const vector<T>*,
                               const resident_registers&) {}

#endif

template <class T>
resident_loop<T>::~resident_loop() = default;

template class resident_loop<double>;
template class resident_loop<float>;
template std::string not_resident_because(const matrix_operator<double>&);
template std::string not_resident_because(const matrix_operator<float>&);

} // namespace krylith
