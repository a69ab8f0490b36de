#include <krylith/spmv/halo/halo_operator.hpp>

#include <algorithm>

#include <krylith/device/threads/each_rank.hpp>
#include <krylith/device/threads/side_tasks.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>

namespace krylith {

namespace {

/// Whether lists of what is sent take the host so long that another thread is to make them while
/// devices make their blocks.
bool worth_a_thread(const device_group& group, const halo_plan& plan) {
    constexpr std::int64_t many = 1 << 14; // four times as many take 0.6 ms
    std::int64_t most = 0;
    for (int rank = 0; rank < plan.rows.ranks(); ++rank)
        most = std::max(most, plan.send_count(rank));
    return group.kind() == backend::cuda && !plan.columns.is_whole() && most >= many;
}

} // namespace

template <class T>
halo_operator<T>::halo_operator(operator_layouts layouts, const matrix_source<T>& source,
                                const halo_plan& plan, format_kind format, operator_kind kind,
                                make_block prepared)
    : matrix_operator<T>(kind, std::move(layouts), source), prepared_(prepared) {
    side_tasks lists(worth_a_thread(this->group(), plan));
    lists.add([&] { schedule(plan.columns); });
    make_blocks(source, plan, format);
    lists.wait();
}

template <class T>
void halo_operator<T>::make_blocks(const matrix_source<T>& source, const halo_plan& plan,
                                   format_kind format) {
    const device_group& group = this->group();
    // Those of several devices travel side by side.
    const bool values_follow =
        group.kind() == backend::cuda && source.parts.empty() && prepared_ == nullptr;
    this->blocks_.resize(static_cast<std::size_t>(group.size()));
    const auto make_block_of = [&](int rank) {
        const auto& d = group.handle(rank);
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
        if (group.size() > 1)
            block.boundary = plan.boundary[static_cast<std::size_t>(rank)].touches_ghost;
        make(block);
    };
    // Devices make their blocks side by side; on the host each block has all cores.
    if (source.resident)
        on_each_rank(group, make_block_of);
    else
        for (int rank = 0; rank < group.size(); ++rank) make_block_of(rank);
    for (std::size_t rank = 0; rank < this->blocks_.size(); ++rank)
        this->dealt_.add(
            static_cast<int>(rank), *this->blocks_[rank],
            entry_list(row_range{this->first_nonzero_[rank], this->first_nonzero_[rank + 1]}));
    if (values_follow) this->dealt_.bring(group, source.matrix.values);
}

template <class T>
halo_operator<T>::halo_operator(operator_layouts layouts, const index_map& columns,
                                const block_maker<T>& make)
    : matrix_operator<T>(operators::halo, std::move(layouts)) {
    schedule(columns);
    for (int rank = 0; rank < this->group().size(); ++rank) {
        const local_indices& here = columns.local(rank);
        this->blocks_.push_back(
            make(*this->layouts_.range, rank, {here.count(), here.first_owned()}));
    }
}

template <class T>
void halo_operator<T>::schedule(const index_map& columns) {
    if (columns.any_ghosts())
        this->schedule_ = std::make_shared<put_schedule<T>>(this->layouts_.domain, columns);
}

template <class T>
bool halo_operator<T>::recordable() const {
    return std::ranges::all_of(this->blocks_,
                               [](const auto& block) { return block->recordable(); });
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
            const ghost_put<T> put = ghosts->put(rank, run.ordered());
            a.ghosts = ghosts->arrived(rank);
            a.credit = {put.peer_credits, put.put_count, put.credited,
                        x.single_reader() ? put.from : 0};
        }
        return a;
    };
    const auto block = [&](int rank) -> device_matrix<T>& {
        return *this->blocks_[static_cast<std::size_t>(rank)];
    };
    if (prepared_ != nullptr)
        for (int rank = 0; rank < run.ranks(); ++rank) block(rank).prepare(arguments_of(rank));
    for (int rank = 0; rank < run.ranks(); ++rank) block(rank).apply(arguments_of(rank));
    run.close();
}

#define KRYLITH_INSTANTIATE(T) template class halo_operator<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
