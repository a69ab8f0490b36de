#include <krylith/spmv/halo/halo_operator.hpp>

#include <algorithm>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/threads/side_tasks.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>

namespace krylith {

namespace {

/// Whether lists of what is sent take the host so long that another thread is to make them while
/// devices make their blocks.
bool worth_a_thread(const communicator& comm, const halo_plan& plan) {
    constexpr std::int64_t many = 1 << 14; // four times as many take 0.6 ms
    std::int64_t most = 0;
    for (int rank = 0; rank < plan.rows.ranks(); ++rank)
        most = std::max(most, plan.send_count(rank));
    return comm.kind() == backend::cuda && comm.has_one_driver() && !plan.columns.is_whole() &&
           most >= many;
}

} // namespace

template <class T>
halo_operator<T>::halo_operator(operator_layouts layouts, const matrix_source<T>& source,
                                const halo_plan& plan, format_kind format, operator_kind kind,
                                make_block prepared)
    : matrix_operator<T>(kind, std::move(layouts), source), prepared_(prepared) {
    side_tasks lists(worth_a_thread(this->comm(), plan));
    lists.add([&] { schedule(plan.columns); });
    make_blocks(source, plan, format);
    lists.wait();
}

template <class T>
void halo_operator<T>::make_blocks(const matrix_source<T>& source, const halo_plan& plan,
                                   format_kind format) {
    const communicator& comm = this->comm();
    // Those of several devices travel side by side.
    const bool values_follow =
        comm.kind() == backend::cuda && source.parts.empty() && prepared_ == nullptr;
    this->blocks_.resize(static_cast<std::size_t>(comm.ranks()));
    const auto make_block_of = [&](int rank) {
        const auto& d = comm.handle(rank);
        const auto make = [&](const local_csr<T>& block) {
            this->blocks_[static_cast<std::size_t>(rank)] =
                prepared_ != nullptr ? prepared_(d, block, format)
                                     : make_device_matrix(d, block, format);
        };
        local_csr<T> block = source.blocks.empty() ? source.block(rank, plan.rows.owned(rank))
                                                   : source.blocks[static_cast<std::size_t>(rank)];
        block.columns = plan.local_size(rank);
        block.first_owned = plan.columns.local(rank).first_owned();
        block.values_follow = values_follow;
        const bool numbered = plan.columns.has_all(rank); // local numbers are global ones
        // Indices that stay on the device are global, or those of a matrix over the group. Whether
        // they are borrowed does not depend on what rows refer to.
        if (!source.numbered && !(numbered && plan.columns.local(rank).ghosts().empty()))
            block.device_indices = nullptr;
        if (source.resident) {
            const resident_block local = local_block(*source.resident, plan, rank);
            block.there = &local.pattern;
            make(block);
            return;
        }
        std::vector<std::int32_t> columns;
        if (!numbered && !source.numbered) {
            resize_in_parallel(columns, block.indices.size());
            localize_columns(plan, rank, source.matrix.row_offsets, source.matrix.column_indices,
                             columns);
            block.indices = columns;
        }
        if (comm.ranks() > 1)
            block.boundary = plan.boundary[static_cast<std::size_t>(rank)].touches_ghost;
        make(block);
    };
    // Devices make their blocks side by side; on the host each block has all cores.
    if (source.resident)
        on_each_rank(comm, make_block_of);
    else
        for (const int rank : comm.local()) make_block_of(rank);
    for (const int rank : comm.local()) {
        const auto at = static_cast<std::size_t>(rank);
        this->dealt_.add(
            rank, *this->blocks_[at],
            entry_list(row_range{this->first_nonzero_[at], this->first_nonzero_[at + 1]}));
    }
    if (values_follow) this->dealt_.bring(comm, source.matrix.values);
}

template <class T>
halo_operator<T>::halo_operator(operator_layouts layouts, const index_map& columns,
                                const block_maker<T>& make)
    : matrix_operator<T>(operators::halo, std::move(layouts)) {
    schedule(columns);
    this->blocks_ = by_rank(this->comm(), [&](int rank) {
        const local_indices& here = columns.local(rank);
        return make(*this->layouts_.range, rank, {here.count(), here.first_owned()});
    });
}

template <class T>
void halo_operator<T>::schedule(const index_map& columns) {
    if (columns.any_ghosts())
        this->schedule_ = std::make_shared<put_schedule<T>>(this->layouts_.domain, columns);
}

template <class T>
bool halo_operator<T>::recordable() const {
    return std::ranges::all_of(this->blocks_,
                               [](const auto& b) { return b == nullptr || b->recordable(); });
}

template <class T>
void halo_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                             std::span<const reduction_into<T>> dots) const {
    const ghost_exchange<T>* ghosts = x.exchange();
    this->open(run, x, y, dots);
    // The product is ordered after the transfers of x's ghosts.
    if (ghosts != nullptr) run.join_opened();
    const auto arguments_of = [&](int rank) {
        auto a = this->arguments(run, rank, alpha, x, beta, y, dots, 0);
        if (ghosts != nullptr) {
            a.ghosts = ghosts->arrived(rank);
            if (x.single_reader()) a.credit = credit_of(ghosts->channel_of(rank));
        }
        return a;
    };
    const auto block = [&](int rank) -> device_matrix<T>& {
        return *this->blocks_[static_cast<std::size_t>(rank)];
    };
    if (prepared_ != nullptr)
        for (const int rank : run.comm().local()) block(rank).prepare(arguments_of(rank));
    for (const int rank : run.comm().local()) block(rank).apply(arguments_of(rank));
    run.close();
}

#define KRYLITH_INSTANTIATE(T) template class halo_operator<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
