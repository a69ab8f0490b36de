#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/external/external_product.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/spmv/nonzero_split/split_tasks.hpp>
#include <krylith/spmv/nonzero_split/summed_rows.hpp>
#include <krylith/vector/execution/context_after.hpp>

namespace krylith {

template <class T>
nonzero_split_operator<T>::nonzero_split_operator(operator_kind kind, operator_layouts layouts,
                                                  const matrix_source<T>& source,
                                                  split_matrix split, format_kind format)
    : matrix_operator<T>(kind, std::move(layouts), source), dealt_by_columns_(split.dealt) {
    for (const auto& owner : split.diagonal) {
        non_local_.emplace_back();
        for (const held_elsewhere& entry : owner) non_local_.back().push_back({entry});
    }
    bool any_remote = false;
    remote_.resize(split.remote.size()); // not moved later
    for (const int rank : this->comm().local()) {
        make_own_block(rank, split, format);
        make_remote_block(rank, split, format);
        any_remote = any_remote || remote_block(rank) != nullptr;
    }
    const nonzero_split_plan& plan = split.plan;
    if (plan.halo.columns.any_ghosts())
        this->schedule_ =
            std::make_shared<put_schedule<T>>(this->layouts_.domain, plan.halo.columns);
    if (any_remote) exchange_ = std::make_unique<partial_exchange<T>>(this->comm(), plan);
    for (const int rank : this->comm().local()) {
        bool& few = remote_[static_cast<std::size_t>(rank)].few;
        few = few && exchange_->reaches_all(rank);
    }
    if (source.parts.empty())
        give(source.matrix.values);
    else
        give(std::span<const T* const>(source.values_of_parts()));
}

template <class T>
local_csr<T> nonzero_split_operator<T>::block_of(const split_matrix& split, int rank, bool remote,
                                                 device_pattern& there) {
    const auto at = static_cast<std::size_t>(rank);
    const local_split& part = split.plan.local[at];
    const nonzero_split_block& on_host = remote ? part.remote : part.own;
    const resident_rows& rows = (remote ? split.remote : split.own)[at].there;
    local_csr<T> block{};
    block.rows = on_host.rows();
    block.columns = split.plan.halo.local_size(rank);
    block.offsets = on_host.offsets;
    block.indices = on_host.columns;
    block.values_follow = true;
    if (rows.offsets.size() == 0) return block;
    there = rows.pattern();
    there.boundary = rows.touches_ghost.data();
    block.rows = rows.lengths.rows;
    block.there = &there;
    return block;
}

template <class T>
void nonzero_split_operator<T>::make_own_block(int rank, split_matrix& split, format_kind format) {
    const auto at = static_cast<std::size_t>(rank);
    device_pattern there;
    local_csr<T> block = block_of(split, rank, false, there);
    block.first_owned = split.plan.halo.columns.local(rank).first_owned();
    if (block.there == nullptr) block.boundary = split.plan.halo.boundary[at].touches_ghost;
    this->blocks_.push_back(make_device_matrix(this->comm().handle(rank), block, format));
    this->dealt_.add(rank, *this->blocks_.back(), std::move(split.own[at].entries));
    split.own[at].there = {};
}

template <class T>
void nonzero_split_operator<T>::make_remote_block(int rank, split_matrix& split,
                                                  format_kind format) {
    const auto at = static_cast<std::size_t>(rank);
    device_pattern there;
    local_csr<T> block = block_of(split, rank, true, there);
    remote_rows& to = remote_[at];
    if (block.rows == 0) return;
    std::vector<std::uint8_t> touches_ghost;
    if (block.there != nullptr) {
        to.reads_ghosts = split.remote[at].there.interior_rows != block.rows;
        if (!to.reads_ghosts) there.boundary = nullptr;
    } else {
        touches_ghost =
            find_boundary(block.offsets, block.indices, split.plan.halo.columns.local(rank))
                .touches_ghost;
        to.reads_ghosts = std::ranges::find(touches_ghost, 1) != touches_ghost.end();
        if (to.reads_ghosts) block.boundary = touches_ghost;
    }
    to.rows = split.plan.local[at].remote_rows;
    to.few = this->comm().kind() == backend::cuda && block.nonzeros() <= most_early_entries;
    to.matrix =
        make_device_matrix(this->comm().handle(rank), block, to.few ? formats::csr : format);
    this->dealt_.add(rank, *to.matrix, std::move(split.remote[at].entries));
    split.remote[at].there = {};
}

template <class T>
void nonzero_split_operator<T>::give(std::span<const T> all) {
    if (dealt_by_columns_) {
        const std::vector<std::int64_t>& first = dealt_by_columns_->first_given;
        std::vector<buffer<T>> uploaded;
        std::vector<const T*> given;
        std::vector<upload_request> requests;
        for (const int rank : this->comm().local()) {
            const std::int64_t begin = first[as_size(rank)];
            const std::size_t count = as_size(first[as_size(rank) + 1] - begin);
            uploaded.emplace_back(this->comm().handle(rank), count, "update");
            given.push_back(uploaded.back().data());
            requests.push_back({&this->comm()[rank], uploaded.back().data(), all.data() + begin,
                                count * sizeof(T)});
        }
        upload_together(requests);
        return give_by_columns(given);
    }
    matrix_operator<T>::give(all);
    newer_there_ = false;
    for (auto& entries : non_local_)
        for (non_local_entry& entry : entries) entry.value = all[as_size(entry.of.entry)];
}

template <class T>
void nonzero_split_operator<T>::give(std::span<const T* const> in_rows) {
    const array_over_group<T> arrays{in_rows, this->first_nonzero_};
    if (!dealt_by_columns_) return give(arrays);
    const std::vector<std::int64_t>& first = dealt_by_columns_->first_given;
    std::vector<entry_list> entries;
    std::vector<wanted_entries> wanted;
    for (std::size_t rank = 0; rank + 1 < first.size(); ++rank)
        entries.emplace_back(row_range{first[rank], first[rank + 1]});
    for (std::size_t rank = 0; rank < entries.size(); ++rank)
        wanted.push_back({static_cast<int>(rank), &entries[rank]});
    const auto brought =
        bring_entries(this->comm(), arrays, std::span<const wanted_entries>(wanted), "update");
    std::vector<const T*> given;
    for (const brought_entries<T>& part : brought) given.push_back(part.data);
    give_by_columns(given);
}

template <class T>
void nonzero_split_operator<T>::give_by_columns(std::span<const T* const> given) {
    const std::vector<std::int64_t>& first = dealt_by_columns_->first_held;
    std::vector<buffer<T>> held;
    std::vector<T*> to;
    for (const int rank : this->comm().local()) {
        held.emplace_back(this->comm().handle(rank),
                          as_size(first[as_size(rank) + 1] - first[as_size(rank)]), "update");
        to.push_back(held.back().data());
    }
    deal_values<T>(this->comm(), dealt_by_columns_->given, given, to);
    const std::vector<const T*> arrays(to.begin(), to.end());
    give(array_over_group<T>{arrays, first});
}

template <class T>
void nonzero_split_operator<T>::give(const array_over_group<T>& arrays) {
    this->dealt_.bring(this->comm(), arrays);
    if (values_there_.empty()) find_values(arrays.first);
    for (std::size_t rank = 0; rank < values_there_.size(); ++rank) {
        const values_there& there = values_there_[rank];
        run_items(this->comm()[static_cast<int>(rank)],
                  pick_values<T>{there.places.data(), arrays.of[rank], there.values.data()},
                  static_cast<std::int64_t>(there.places.size()));
    }
    newer_there_ = true;
}

/// Finds on which devices values of the diagonal lie that others than their rows' owners hold.
template <class T>
void nonzero_split_operator<T>::find_values(std::span<const std::int64_t> first) {
    const auto ranks = as_size(this->comm().ranks());
    values_there_.resize(ranks);
    std::vector<std::vector<std::int64_t>> places(ranks);
    for (auto& entries : non_local_)
        for (non_local_entry& entry : entries) {
            const auto after = std::ranges::upper_bound(first, entry.of.entry);
            const auto rank = as_size(after - first.begin() - 1);
            places[rank].push_back(entry.of.entry - first[rank]);
            values_there_[rank].entries.push_back(&entry);
        }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (places[rank].empty()) continue;
        const auto& device = this->comm().handle(static_cast<int>(rank));
        values_there_[rank].places = {device, std::span<const std::int64_t>(places[rank]),
                                      matrix_item};
        values_there_[rank].values = {device, places[rank].size(), matrix_item};
    }
}

template <class T>
void nonzero_split_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta,
                                      vector<T>& y, std::span<const reduction_into<T>> dots) const {
    const ghost_exchange<T>* ghosts = x.exchange();
    this->open(run, x, y, dots);
    if (ghosts != nullptr) run.join_opened(); // the ghosts of x are on their way
    if (exchange_) run.join_if_ordered();     // readers of the last results are done
    for (int rank = 0; exchange_ && rank < run.ranks(); ++rank) {
        const remote_rows& rows = remote_[static_cast<std::size_t>(rank)];
        if (!rows.matrix || is_early(run, rows)) continue;
        spmv_arguments<T> a{};
        a.common = run.at(rank);
        a.x = this->local_entries(x, rank);
        a.alpha = T{1};
        a.put = exchange_->put(rank, run.ordered());
        if (rows.reads_ghosts) a.ghosts = ghosts->arrived(rank);
        rows.matrix->apply(a);
    }
    if (exchange_) exchange_->forward(run);
    for (const int rank : run.comm().local()) {
        auto a = this->arguments(run, rank, alpha, x, beta, y, dots, 0);
        const remote_rows& rows = remote_[static_cast<std::size_t>(rank)];
        if (is_early(run, rows)) {
            const result_put<T> put = exchange_->put(rank, false);
            a.early = {*rows.matrix->compressed(),
                       static_cast<std::int32_t>(rows.rows.size()),
                       put.targets,
                       {},
                       put.channel};
            if (rows.reads_ghosts) a.early.ghosts = ghosts->arrived(rank);
        } else if (rows.matrix) {
            a.common = context_after(a.common);
        }
        if (ghosts != nullptr) {
            a.ghosts = ghosts->arrived(rank);
            if (x.single_reader()) a.credit = credit_of(ghosts->channel_of(rank));
        }
        multiply_own(a, rank);
    }
    run.close();
}

/// Where many rows have partial sums, as with cuts by columns, these are added after the product,
/// and dot products are computed last.
template <class T>
void nonzero_split_operator<T>::multiply_own(spmv_arguments<T>& a, int rank) const {
    const bool few = !exchange_ || exchange_->are_few(rank);
    const reduction dots = a.reduce;
    if (!few) a.reduce.count = 0;
    if (exchange_ && few) a.partials = exchange_->sums(rank);
    this->blocks_[static_cast<std::size_t>(rank)]->apply(a);
    if (few) return;
    device& device = this->comm()[rank];
    a.common = context_after(a.common);
    a.ghosts.senders = 0;
    a.credit.senders = 0;
    a.early.count = 0;
    a.partials = exchange_->sums(rank);
    KRYLITH_ON(device, add_partial_sums(device, a));
    a.reduce = dots;
    a.partials = {};
    const std::int64_t rows = this->layouts_.range->rows.owned(rank).size();
    KRYLITH_ON(device, after_product(device, a, rows, a.y));
}

template <class T>
void nonzero_split_operator<T>::diagonal(vector<T>& d) const {
    matrix_operator<T>::diagonal(d);
    for (std::size_t rank = 0; newer_there_ && rank < values_there_.size(); ++rank) {
        const values_there& there = values_there_[rank];
        const std::vector<T> values = there.values.download();
        for (std::size_t k = 0; k < values.size(); ++k) there.entries[k]->value = values[k];
    }
    newer_there_ = false;
    for (const int rank : this->comm().local()) {
        if (non_local_.empty() || non_local_[static_cast<std::size_t>(rank)].empty()) continue;
        const auto& non_local = non_local_[static_cast<std::size_t>(rank)];
        const auto row = [](const non_local_entry& entry) { return entry.of.row; };
        const auto [low, high] = std::ranges::minmax_element(non_local, {}, row);
        std::vector<T> part(static_cast<std::size_t>(row(*high) - row(*low) + 1));
        device& device = this->comm()[rank];
        T* const first = d.data(rank) + row(*low);
        device.download(part.data(), first, part.size() * sizeof(T));
        for (const non_local_entry& entry : non_local)
            part[static_cast<std::size_t>(row(entry) - row(*low))] += entry.value;
        device.upload(first, part.data(), part.size() * sizeof(T));
    }
}

template <class T>
std::vector<buffer<residual_sums>>
nonzero_split_operator<T>::enqueue_residual(T s, const vector<T>& x, const vector<T>& b,
                                            vector<T>& r) const {
    if (!exchange_) return matrix_operator<T>::enqueue_residual(s, x, b, r);
    const row_partition& owners = this->layouts_.range->rows;
    std::vector<std::vector<row_terms>> terms; // [ranks] of owned rows
    for (const int rank : this->comm().local())
        terms.emplace_back(static_cast<std::size_t>(owners.owned(rank).size()));
    for (const int rank : this->comm().local()) {
        const remote_rows& remote = remote_[static_cast<std::size_t>(rank)];
        if (!remote.matrix) continue;
        const buffer<row_terms> results(this->comm().handle(rank), remote.rows.size(), "residual");
        residual_operands<T> a{this->local_entries(x, rank)};
        a.terms = results.data();
        (void)remote.matrix->residual(a);
        const auto here = results.download();
        for (std::size_t f = 0; f < here.size(); ++f) {
            const int owner = owners.owner(remote.rows[f]);
            const std::int64_t row = remote.rows[f] - owners.owned(owner).begin;
            terms[static_cast<std::size_t>(owner)][static_cast<std::size_t>(row)].add(here[f]);
        }
    }
    std::vector<buffer<residual_sums>> sums;
    for (const int rank : this->comm().local()) {
        const auto at = static_cast<std::size_t>(rank);
        const buffer<row_terms> remote(this->comm().handle(rank),
                                       std::span<const row_terms>(terms[at]), "residual");
        residual_operands<T> a = this->residual_on(rank, s, x, b, r);
        a.remote = remote.data();
        sums.push_back(this->blocks_[at]->residual(a));
    }
    return sums;
}

template <class T>
std::int64_t nonzero_split_operator<T>::received(int rank) const {
    return matrix_operator<T>::received(rank) + (exchange_ ? exchange_->received(rank) : 0);
}

template <class T>
std::int64_t nonzero_split_operator<T>::matrix_bytes(int rank) const {
    const device_matrix<T>* remote = remote_block(rank);
    return matrix_operator<T>::matrix_bytes(rank) +
           (remote != nullptr ? remote->matrix_bytes() : 0) +
           (exchange_ ? exchange_->index_bytes(rank) : 0);
}

#define KRYLITH_INSTANTIATE(T) template class nonzero_split_operator<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
