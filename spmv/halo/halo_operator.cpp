#include <krylith/spmv/halo/halo_operator.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/spmv/column_adaptive/column_adaptive_matrix.hpp>
#include <krylith/spmv/source/matrix_source.hpp>

namespace krylith {

template <class T>
halo_operator<T>::halo_operator(layout_handle where, const matrix_source<T>& source,
                                const halo_plan& plan, local_kind local, operator_kind kind)
    : matrix_operator<T>(kind, where, source) {
    schedule(plan);
    make_blocks(source, plan, local);
}

template <class T>
halo_operator<T>::halo_operator(layout_handle where, const matrix_source<T>& source,
                                const gather_plan& plan, local_kind local)
    : matrix_operator<T>(operator_kind::gather, where, source) {
    if (where->group.size() > 1) schedule_ = std::make_shared<push_schedule<T>>(where, plan);
    make_blocks(source, plan, local);
}

template <class T>
template <class Plan>
void halo_operator<T>::make_blocks(const matrix_source<T>& source, const Plan& plan,
                                   local_kind local) {
    const layout& where = *this->layout_;
    for (int rank = 0; rank < where.group.size(); ++rank) {
        local_block<T> block = source.block(rank, where.rows.owned(rank));
        std::vector<std::int32_t> columns(block.indices.size());
        localize_columns(plan, rank, source.matrix.row_offsets, source.matrix.column_indices,
                         columns);
        block.columns = plan.local_size(rank);
        block.indices = columns;
        if (where.group.size() > 1) block.device_indices = nullptr; // those are global
        block.boundary = plan.parts[static_cast<std::size_t>(rank)].touches_ghost;
        const auto& d = where.group.share(rank);
        this->blocks_.push_back(this->kind_ == operator_kind::adaptive
                                    ? make_adaptive(d, block, local)
                                    : make_block(d, block, local));
    }
}

template <class T>
halo_operator<T>::halo_operator(layout_handle where, const halo_plan& plan,
                                const block_maker<T>& make)
    : matrix_operator<T>(operator_kind::halo, where) {
    schedule(plan);
    for (int rank = 0; rank < where->group.size(); ++rank)
        this->blocks_.push_back(make(*where, rank, plan.local_size(rank)));
}

template <class T>
void halo_operator<T>::schedule(const halo_plan& plan) {
    bool any = false;
    for (const halo_part& part : plan.parts) any = any || !part.ghosts.empty();
    if (any) schedule_ = std::make_shared<push_schedule<T>>(this->layout_, plan);
}

template <class T>
bool halo_operator<T>::recordable() const {
    return std::ranges::all_of(this->blocks_,
                               [](const auto& block) { return block->recordable(); });
}

template <class T>
void halo_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                             std::span<const reduction_into<T>> dots) const {
    const ghost_exchange<T>* exchange = x.exchange();
    if (schedule_ && exchange == nullptr)
        throw usage_error(std::string("x of a product with operator ") + to_string(this->kind_) +
                          " must come from make_operand()");
    this->open(run, x, y, dots);
    if (exchange != nullptr) run.join_if_ordered(); // the ghosts of x are on their way
    const auto arguments_of = [&](int rank) {
        auto a = this->arguments(run, rank, alpha, x, beta, y, dots, 0);
        if (exchange != nullptr) {
            const ghost_push<T> push = exchange->push(rank, run.ordered());
            a.ghosts = exchange->arrived(rank);
            a.acknowledge = {push.readies, push.pushed, push.acknowledged,
                             x.single_reader() ? push.from : 0};
        }
        return a;
    };
    const auto block = [&](int rank) -> local_matrix<T>& {
        return *this->blocks_[static_cast<std::size_t>(rank)];
    };
    if (this->kind_ == operator_kind::adaptive)
        for (int rank = 0; rank < run.ranks(); ++rank) block(rank).look(arguments_of(rank));
    for (int rank = 0; rank < run.ranks(); ++rank) block(rank).apply(arguments_of(rank));
    run.close();
}

template class halo_operator<double>;
template class halo_operator<float>;

} // namespace krylith
