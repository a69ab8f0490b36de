#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/vector/execution/context_after.hpp>

namespace krylith {

template <class T>
nonzero_split_operator<T>::entry_list::entry_list(std::vector<std::int64_t> source)
    : first(source.empty() ? 0 : source.front()), count(static_cast<std::int64_t>(source.size())) {
    if (!source.empty() && source.back() - first + 1 != count) places = std::move(source);
}

template <class T>
std::span<const T> nonzero_split_operator<T>::entry_list::of(std::span<const T> values,
                                                             std::vector<T>& room) const {
    if (places.empty())
        return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    room.clear();
    room.reserve(places.size());
    for (const std::int64_t place : places) room.push_back(values[static_cast<std::size_t>(place)]);
    return room;
}

template <class T>
nonzero_split_operator<T>::nonzero_split_operator(operator_kind kind, operator_layouts layouts,
                                                  const matrix_source<T>& source,
                                                  nonzero_split_plan plan, format_kind format)
    : matrix_operator<T>(kind, std::move(layouts), source) {
    if (this->layouts_.square()) find_non_local(source, plan);
    bool any_remote = false;
    for (int rank = 0; rank < this->group().size(); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        make_own_block(rank, plan, source.matrix.values, format);
        make_remote_block(rank, plan, source.matrix.values, format);
        own_.emplace_back(std::move(plan.local[r].own.source));
        any_remote = any_remote || !plan.local[r].remote_rows.empty();
    }
    if (plan.halo.columns.any_ghosts())
        this->schedule_ =
            std::make_shared<put_schedule<T>>(this->layouts_.domain, plan.halo.columns);
    if (any_remote) exchange_ = std::make_unique<partial_exchange<T>>(this->group(), plan);
}

template <class T>
void nonzero_split_operator<T>::make_own_block(int rank, const nonzero_split_plan& plan,
                                               std::span<const T> values, format_kind format) {
    const local_split& part = plan.local[static_cast<std::size_t>(rank)];
    std::vector<std::uint8_t> waits =
        plan.halo.boundary[static_cast<std::size_t>(rank)].touches_ghost;
    for (const std::int32_t row : part.summed_rows) waits[static_cast<std::size_t>(row)] = 1;
    std::vector<T> room;
    local_csr<T> block{};
    block.rows = part.own.rows();
    block.columns = plan.halo.local_size(rank);
    block.first_owned = plan.halo.columns.local(rank).first_owned();
    block.offsets = part.own.offsets;
    block.indices = part.own.columns;
    block.values = entry_list(part.own.source).of(values, room);
    block.boundary = waits;
    this->blocks_.push_back(make_device_matrix(this->group().handle(rank), block, format));
}

template <class T>
void nonzero_split_operator<T>::make_remote_block(int rank, const nonzero_split_plan& plan,
                                                  std::span<const T> values, format_kind format) {
    const nonzero_split_block& from = plan.local[static_cast<std::size_t>(rank)].remote;
    remote_rows& to = remote_.emplace_back();
    if (from.rows() == 0) return;
    const local_indices& indices = plan.halo.columns.local(rank);
    const row_range owned{indices.first_owned(), indices.first_owned() + indices.owned().size()};
    std::vector<std::uint8_t> touches_ghost;
    for (std::int64_t f = 0; f < from.rows(); ++f) {
        const auto begin = from.columns.begin() + from.offsets[static_cast<std::size_t>(f)];
        const auto end = from.columns.begin() + from.offsets[static_cast<std::size_t>(f) + 1];
        touches_ghost.push_back(
            std::any_of(begin, end, [&](std::int32_t j) { return !owned.contains(j); }) ? 1 : 0);
    }
    to.reads_ghosts = std::ranges::find(touches_ghost, 1) != touches_ghost.end();
    to.entries = entry_list(from.source);
    to.rows = plan.local[static_cast<std::size_t>(rank)].remote_rows;
    std::vector<T> room;
    local_csr<T> block{};
    block.rows = from.rows();
    block.columns = plan.halo.local_size(rank);
    block.offsets = from.offsets;
    block.indices = from.columns;
    block.values = to.entries.of(values, room);
    if (to.reads_ghosts) block.boundary = touches_ghost;
    to.matrix = make_device_matrix(this->group().handle(rank), block, format);
}

template <class T>
void nonzero_split_operator<T>::find_non_local(const matrix_source<T>& source,
                                               const nonzero_split_plan& plan) {
    non_local_.resize(plan.local.size());
    const row_partition& rows = plan.halo.rows;
    for (const local_split& part : plan.local)
        for (std::int64_t f = 0; f < part.remote.rows(); ++f) {
            const std::int64_t row = part.remote_rows[static_cast<std::size_t>(f)];
            const int owner = rows.owner(row);
            for (std::int64_t k = part.remote.offsets[static_cast<std::size_t>(f)];
                 k < part.remote.offsets[static_cast<std::size_t>(f) + 1]; ++k) {
                const std::int64_t place = part.remote.source[static_cast<std::size_t>(k)];
                const auto at = static_cast<std::size_t>(place);
                if (source.matrix.column_indices[at] == row)
                    non_local_[static_cast<std::size_t>(owner)].push_back(
                        {static_cast<std::int32_t>(row - rows.owned(owner).begin), place,
                         source.matrix.values[at]});
            }
        }
}

template <class T>
void nonzero_split_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta,
                                      vector<T>& y, std::span<const reduction_into<T>> dots) const {
    const ghost_exchange<T>* ghosts = x.exchange();
    this->open(run, x, y, dots);
    if (ghosts != nullptr) run.join_opened(); // the ghosts of x are on their way
    if (exchange_) exchange_->begin(run);
    for (int rank = 0; exchange_ && rank < run.ranks(); ++rank) {
        const remote_rows& rows = remote_[static_cast<std::size_t>(rank)];
        if (!rows.matrix) continue;
        spmv_arguments<T> a{};
        a.common = run.at(rank);
        a.x = this->local_entries(x, rank);
        a.alpha = T{1};
        a.put = exchange_->put(rank, run.ordered());
        if (rows.reads_ghosts) a.ghosts = ghosts->arrived(rank);
        rows.matrix->apply(a);
    }
    if (exchange_) exchange_->forward(run);
    for (int rank = 0; rank < run.ranks(); ++rank) {
        auto a = this->arguments(run, rank, alpha, x, beta, y, dots, 0);
        if (remote_[static_cast<std::size_t>(rank)].matrix) a.common = context_after(a.common);
        if (ghosts != nullptr) {
            const ghost_put<T> put = ghosts->put(rank, run.ordered());
            a.ghosts = ghosts->arrived(rank);
            a.credit = {put.peer_credits, put.put_count, put.credited,
                        x.single_reader() ? put.from : 0};
        }
        if (exchange_) a.partials = exchange_->sums(rank);
        this->blocks_[static_cast<std::size_t>(rank)]->apply(a);
    }
    run.close();
}

template <class T>
void nonzero_split_operator<T>::diagonal(vector<T>& d) const {
    matrix_operator<T>::diagonal(d);
    for (int rank = 0; rank < this->group().size(); ++rank) {
        const std::vector<non_local_entry>& non_local = non_local_[static_cast<std::size_t>(rank)];
        if (non_local.empty()) continue;
        const auto [low, high] = std::ranges::minmax_element(non_local, {}, &non_local_entry::row);
        std::vector<T> part(static_cast<std::size_t>(high->row - low->row + 1));
        device& device = this->group()[rank];
        device.download(part.data(), d.data(rank) + low->row, part.size() * sizeof(T));
        for (const non_local_entry& s : non_local)
            part[static_cast<std::size_t>(s.row - low->row)] += s.value;
        device.upload(d.data(rank) + low->row, part.data(), part.size() * sizeof(T));
    }
}

template <class T>
std::vector<buffer<residual_sums>>
nonzero_split_operator<T>::enqueue_residual(T s, const vector<T>& x, const vector<T>& b,
                                            vector<T>& r) const {
    if (!exchange_) return matrix_operator<T>::enqueue_residual(s, x, b, r);
    const row_partition& owners = this->layouts_.range->rows;
    std::vector<std::vector<row_terms>> terms; // [ranks] of owned rows
    for (int rank = 0; rank < this->group().size(); ++rank)
        terms.emplace_back(static_cast<std::size_t>(owners.owned(rank).size()));
    for (int rank = 0; rank < this->group().size(); ++rank) {
        const remote_rows& remote = remote_[static_cast<std::size_t>(rank)];
        if (!remote.matrix) continue;
        const buffer<row_terms> results(this->group().handle(rank), remote.rows.size(), "residual");
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
    for (int rank = 0; rank < this->group().size(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        const buffer<row_terms> remote(this->group().handle(rank),
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

template <class T>
void nonzero_split_operator<T>::distribute(std::span<const T> values) {
    std::vector<T> room;
    for (std::size_t rank = 0; rank < own_.size(); ++rank) {
        this->blocks_[rank]->update(own_[rank].of(values, room));
        if (remote_[rank].matrix)
            remote_[rank].matrix->update(remote_[rank].entries.of(values, room));
    }
    for (auto& non_local : non_local_)
        for (non_local_entry& s : non_local) s.value = values[static_cast<std::size_t>(s.place)];
}

template <class T>
void nonzero_split_operator<T>::check_device_update() const {
    throw usage_error(std::string("update_on_devices: operator ") + to_string(this->kind_) +
                      " takes new values by update(): its devices hold entries that are not those "
                      "of their rows; allowed are operators " +
                      listed<operator_method>(operators::all, [](operator_kind other) {
                          return other->needs_host_because.empty();
                      }));
}

#define KRYLITH_INSTANTIATE(T) template class nonzero_split_operator<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
