#include <krylith/graph/frontier/group_product.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::spmspv {

template <class S, class M>
group_product<S, M>::group_product(std::shared_ptr<const group_matrix<M>> a,
                                   const adaptive_options& options)
    : a_(std::move(a)) {
    const bool several = local().size() > 1;
    for (const local_rows& m : local()) {
        const auto& device = a_->group().handle(m.rank);
        const auto vector = [&](std::int64_t size) {
            return std::make_unique<sparse_vector<T>>(device, size, S::absent());
        };
        rank_state here;
        here.x = vector(a_->size());
        here.y = vector(m.rows.size());
        if (several) here.next = vector(m.rows.size());
        here.product = std::make_unique<adaptive_product<S, M>>(m.part, options);
        here.filter = std::make_unique<frontier_filter>(device, m.rows.size(),
                                                        static_cast<int>(local().size()));
        // Values that S doesn't read are not sent: the array holds present() throughout.
        if constexpr (!S::reads_vector)
            fill(*device, here.x->arrays().values, a_->size(), present());
        states_.push_back(std::move(here));
    }
}

template <class S, class M>
void group_product<S, M>::assign(std::span<const std::int32_t> indices, std::span<const T> values) {
    for (rank_state& here : states_) here.x->assign(indices, values);
    for (std::size_t m = 0; m < states_.size(); ++m)
        states_[m].frontier_nonzeros = count_frontier_nonzeros(*local()[m].part, *states_[m].x);
    entries_ = static_cast<std::int64_t>(indices.size());
    sent_ = exchange_form::none;
}

template <class S, class M>
std::int64_t group_product<S, M>::frontier_nonzeros() const noexcept {
    std::int64_t sum = 0;
    for (const rank_state& here : states_) sum += here.frontier_nonzeros;
    return sum;
}

template <class S, class M>
void group_product<S, M>::x_became(std::int64_t frontier_nonzeros) {
    if (states_.size() != 1)
        throw usage_error("group_product: x was replaced on one of " +
                          std::to_string(states_.size()) + " devices, allowed is 1");
    states_.front().frontier_nonzeros = frontier_nonzeros;
    entries_ = states_.front().x->count();
    sent_ = exchange_form::none;
}

template <class S, class M>
const kernel_model* group_product<S, M>::model() const noexcept {
    return states_.empty() ? nullptr : &states_.front().product->model();
}

template <class S, class M>
group_product_record group_product<S, M>::multiply(std::span<const std::uint32_t* const> skip_rows,
                                                   vector_form wanted) {
    group_product_record record{entries_, frontier_nonzeros(), sent_, {}};
    for (std::size_t m = 0; m < states_.size(); ++m) {
        rank_state& here = states_[m];
        // The filter takes y in any form: column kernels leave pairs, the others bits.
        const product_options<T> options{.wanted = wanted,
                                         .as_it_comes = wanted == vector_form::pairs,
                                         .skip_rows = skip_rows.empty() ? nullptr : skip_rows[m]};
        record.products.push_back(
            (*here.product)(*here.x, *here.y, options, here.frontier_nonzeros));
        record.measured = here.product->measures();
    }
    return record;
}

template <class S, class M>
bool group_product<S, M>::joins_steps() const {
    for (const rank_state& here : states_)
        if (!here.product->chooses() || here.product->measures() ||
            here.x->device().kind() != backend::cuda)
            return false;
    return true;
}

template <class S, class M>
std::int64_t group_product<S, M>::most_of_y(std::size_t m) const {
    const sparse_vector<T>& y = *states_[m].y;
    return y.known_count().value_or(std::min(states_[m].frontier_nonzeros, y.size()));
}

template <class S, class M>
void group_product<S, M>::send_kept() {
    entries_ = 0;
    for (rank_state& here : states_) here.frontier_nonzeros = 0;
    for (std::size_t m = 0; m < states_.size(); ++m) {
        const auto kept = states_[m].filter->wait(next(m));
        states_[m].kept = kept.entries;
        entries_ += kept.entries;
        for (std::size_t part = 0; part < states_.size(); ++part)
            states_[part].frontier_nonzeros += kept.frontier_nonzeros[part];
    }
    if (states_.size() < 2) return;
    // All devices have multiplied, so x may be overwritten.
    const std::int64_t value = S::reads_vector ? static_cast<std::int64_t>(sizeof(T)) : 0;
    const std::int64_t as_pairs = entries_ * (4 + value);
    const std::int64_t as_dense = a_->size() * value + a_->size() / 8;
    if (as_pairs <= as_dense)
        send_pairs();
    else
        send_dense();
}

template <class S, class M>
void group_product<S, M>::send_all() {
    entries_ = a_->size();
    for (std::size_t m = 0; m < states_.size(); ++m)
        states_[m].frontier_nonzeros = local()[m].part->nonzeros();
    if (states_.size() < 2) return;
    a_->group().join(); // a device may still multiply by the old x
    send_dense();
}

template <class S, class M>
void group_product<S, M>::send_pairs() {
    const device_group& group = a_->group();
    const auto count = static_cast<std::int32_t>(entries_);
    for (rank_state& here : states_) {
        const auto x = here.x->overwrite();        // keeps stale values: peers write there at once
        fill(here.x->device(), x.count, 1, count); // an upload would wait for the device
        if (here.kept != 0) here.next->require(vector_form::pairs);
    }
    bool ascending = true;
    std::int64_t first = 0;
    for (std::size_t m = 0; m < states_.size(); ++m) {
        const std::int64_t kept = states_[m].kept;
        if (kept == 0) continue;
        const int rank = local()[m].rank;
        const auto mine = states_[m].x->arrays();
        const auto from = states_[m].next->arrays();
        shift(group[rank], from.indices, mine.indices + first, kept,
              static_cast<std::int32_t>(local()[m].rows.begin));
        const auto send = [&](const auto* what, auto* to, int peer) {
            group.copy(rank, what, peer, to, as_size(kept) * sizeof *what);
        };
        for (std::size_t p = 0; p < states_.size(); ++p) {
            const auto theirs = states_[p].x->arrays();
            const int peer = local()[p].rank;
            if (p != m) send(mine.indices + first, theirs.indices + first, peer);
            if constexpr (S::reads_vector) send(from.values, theirs.values + first, peer);
        }
        ascending = ascending && states_[m].next->ascending();
        first += kept;
    }
    group.join();
    for (rank_state& here : states_) here.x->holds(vector_form::pairs, ascending, entries_);
    sent_ = exchange_form::pairs;
}

template <class S, class M>
void group_product<S, M>::send_dense() {
    const device_group& group = a_->group();
    for (rank_state& here : states_) {
        (void)here.x->overwrite();
        here.next->require(vector_form::bits);
        if (S::reads_vector) here.next->require(vector_form::dense);
    }
    for (std::size_t m = 0; m < states_.size(); ++m) {
        const int rank = local()[m].rank;
        const row_range rows = local()[m].rows; // they begin at a multiple of 32
        const auto from = states_[m].next->arrays();
        for (std::size_t p = 0; p < states_.size(); ++p) {
            const auto to = states_[p].x->arrays();
            const int peer = local()[p].rank;
            group.copy(rank, from.bits, peer, to.bits + rows.begin / 32,
                       as_size(from.words()) * sizeof(std::uint32_t));
            if constexpr (S::reads_vector)
                group.copy(rank, from.dense, peer, to.dense + rows.begin,
                           as_size(rows.size()) * sizeof(T));
        }
    }
    group.join();
    for (rank_state& here : states_) {
        if constexpr (!S::reads_vector) spread(here.x->device(), here.x->arrays(), present());
        here.x->holds(vector_form::bits | vector_form::dense, true, entries_);
    }
    sent_ = exchange_form::dense;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class group_product<plus_times<T>, T>;                                                \
    template class group_product<plus_second<T>, T>;                                               \
    template class group_product<min_plus<T>, T>;                                                  \
    template class group_product<min_column, T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::spmspv
