#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/spmv/source/matrix_source.hpp>
#include <krylith/vector/scalar/context_after.hpp>

namespace krylith {

bool is_in_pieces(operator_kind kind) noexcept {
    return kind == operator_kind::pcsr || kind == operator_kind::pcsc ||
           kind == operator_kind::pcoo;
}

dealt_entries deal_pieces(operator_kind kind, std::span<const std::int64_t> row_offsets,
                          std::span<const std::int32_t> columns, int devices) {
    const auto entries = equal_entries(static_cast<std::int64_t>(columns.size()), devices);
    return kind == operator_kind::pcsc ? deal_by_columns(row_offsets, columns, entries)
                                       : deal_by_rows(row_offsets, entries);
}

template <class T>
pieces_operator<T>::entry_list::entry_list(std::vector<std::int64_t> source)
    : first(source.empty() ? 0 : source.front()), count(static_cast<std::int64_t>(source.size())) {
    if (!source.empty() && source.back() - first + 1 != count) places = std::move(source);
}

template <class T>
std::span<const T> pieces_operator<T>::entry_list::of(std::span<const T> values,
                                                      std::vector<T>& room) const {
    if (places.empty())
        return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    room.clear();
    room.reserve(places.size());
    for (const std::int64_t place : places) room.push_back(values[static_cast<std::size_t>(place)]);
    return room;
}

template <class T>
pieces_operator<T>::pieces_operator(operator_kind kind, layout_handle where,
                                    const matrix_source<T>& source, piece_plan plan,
                                    local_kind local)
    : matrix_operator<T>(kind, where, source) {
    find_strays(source, plan);
    bool any_ghosts = false;
    bool any_foreign = false;
    for (int rank = 0; rank < where->group.size(); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        make_own_block(rank, plan, source.matrix.values, local);
        make_foreign_block(rank, plan, source.matrix.values, local);
        own_.emplace_back(std::move(plan.parts[r].own.source));
        any_ghosts = any_ghosts || !plan.halo.parts[r].ghosts.empty();
        any_foreign = any_foreign || !plan.parts[r].foreign_rows.empty();
    }
    if (any_ghosts) schedule_ = std::make_shared<push_schedule<T>>(where, plan.halo);
    if (any_foreign) exchange_ = std::make_unique<partial_exchange<T>>(where->group, plan);
}

template <class T>
void pieces_operator<T>::make_own_block(int rank, const piece_plan& plan, std::span<const T> values,
                                        local_kind local) {
    const piece_part& part = plan.parts[static_cast<std::size_t>(rank)];
    std::vector<std::uint8_t> waits = plan.halo.parts[static_cast<std::size_t>(rank)].touches_ghost;
    for (const std::int32_t row : part.summed_rows) waits[static_cast<std::size_t>(row)] = 1;
    std::vector<T> room;
    local_block<T> block{};
    block.rows = part.own.rows();
    block.columns = plan.halo.local_size(rank);
    block.offsets = part.own.offsets;
    block.indices = part.own.columns;
    block.values = entry_list(part.own.source).of(values, room);
    block.boundary = waits;
    this->blocks_.push_back(make_block(this->layout_->group.share(rank), block, local));
}

template <class T>
void pieces_operator<T>::make_foreign_block(int rank, const piece_plan& plan,
                                            std::span<const T> values, local_kind local) {
    const piece_block& from = plan.parts[static_cast<std::size_t>(rank)].foreign;
    foreign_rows& to = foreign_.emplace_back();
    if (from.rows() == 0) return;
    const std::int64_t owned = plan.halo.partition.owned(rank).size();
    std::vector<std::uint8_t> touches_ghost;
    for (std::int64_t f = 0; f < from.rows(); ++f) {
        const auto begin = from.columns.begin() + from.offsets[static_cast<std::size_t>(f)];
        const auto end = from.columns.begin() + from.offsets[static_cast<std::size_t>(f) + 1];
        touches_ghost.push_back(
            std::any_of(begin, end, [&](std::int32_t j) { return j >= owned; }) ? 1 : 0);
    }
    to.reads_ghosts = std::ranges::find(touches_ghost, 1) != touches_ghost.end();
    to.entries = entry_list(from.source);
    std::vector<T> room;
    local_block<T> block{};
    block.rows = from.rows();
    block.columns = plan.halo.local_size(rank);
    block.offsets = from.offsets;
    block.indices = from.columns;
    block.values = to.entries.of(values, room);
    if (to.reads_ghosts) block.boundary = touches_ghost;
    to.matrix = make_block(this->layout_->group.share(rank), block, local);
}

template <class T>
void pieces_operator<T>::find_strays(const matrix_source<T>& source, const piece_plan& plan) {
    strays_.resize(plan.parts.size());
    const row_partition& rows = plan.halo.partition;
    for (const piece_part& part : plan.parts)
        for (std::int64_t f = 0; f < part.foreign.rows(); ++f) {
            const std::int64_t row = part.foreign_rows[static_cast<std::size_t>(f)];
            const int owner = rows.owner(row);
            for (std::int64_t k = part.foreign.offsets[static_cast<std::size_t>(f)];
                 k < part.foreign.offsets[static_cast<std::size_t>(f) + 1]; ++k) {
                const std::int64_t place = part.foreign.source[static_cast<std::size_t>(k)];
                const auto at = static_cast<std::size_t>(place);
                if (source.matrix.column_indices[at] == row)
                    strays_[static_cast<std::size_t>(owner)].push_back(
                        {static_cast<std::int32_t>(row - rows.owned(owner).begin), place,
                         source.matrix.values[at]});
            }
        }
}

template <class T>
void pieces_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                               std::span<const reduction_into<T>> dots) const {
    const ghost_exchange<T>* ghosts = x.exchange();
    if (schedule_ && ghosts == nullptr)
        throw usage_error(std::string("x of a product with operator ") + to_string(this->kind_) +
                          " must come from make_operand()");
    this->open(run, x, y, dots);
    if (ghosts != nullptr) run.join_if_ordered(); // the ghosts of x are on their way
    if (exchange_) exchange_->begin(run);
    for (int rank = 0; exchange_ && rank < run.ranks(); ++rank) {
        const foreign_rows& rows = foreign_[static_cast<std::size_t>(rank)];
        if (!rows.matrix) continue;
        spmv_arguments<T> a{};
        a.common = run.at(rank);
        a.x = x.data(rank);
        a.alpha = T{1};
        a.push = exchange_->push(rank, run.ordered());
        if (rows.reads_ghosts) a.ghosts = ghosts->arrived(rank);
        rows.matrix->apply(a);
    }
    if (exchange_) exchange_->forward(run);
    for (int rank = 0; rank < run.ranks(); ++rank) {
        auto a = this->arguments(run, rank, alpha, x, beta, y, dots, 0);
        if (foreign_[static_cast<std::size_t>(rank)].matrix) a.common = frame_after(a.common);
        if (ghosts != nullptr) {
            const ghost_push<T> push = ghosts->push(rank, run.ordered());
            a.ghosts = ghosts->arrived(rank);
            a.acknowledge = {push.readies, push.pushed, push.acknowledged,
                             x.single_reader() ? push.from : 0};
        }
        if (exchange_) a.partials = exchange_->sums(rank);
        this->blocks_[static_cast<std::size_t>(rank)]->apply(a);
    }
    run.close();
}

template <class T>
void pieces_operator<T>::diagonal(vector<T>& d) const {
    matrix_operator<T>::diagonal(d);
    for (int rank = 0; rank < this->layout_->group.size(); ++rank) {
        const std::vector<stray_entry>& strays = strays_[static_cast<std::size_t>(rank)];
        if (strays.empty()) continue;
        const auto [low, high] = std::ranges::minmax_element(strays, {}, &stray_entry::row);
        std::vector<T> part(static_cast<std::size_t>(high->row - low->row + 1));
        device& where = this->layout_->group[rank];
        where.download(part.data(), d.data(rank) + low->row, part.size() * sizeof(T));
        for (const stray_entry& s : strays)
            part[static_cast<std::size_t>(s.row - low->row)] += s.value;
        where.upload(d.data(rank) + low->row, part.data(), part.size() * sizeof(T));
    }
}

template <class T>
std::int64_t pieces_operator<T>::received(int rank) const {
    return (schedule_ ? schedule_->ghosts(rank) : 0) + (exchange_ ? exchange_->received(rank) : 0);
}

template <class T>
std::int64_t pieces_operator<T>::matrix_bytes(int rank) const {
    const local_matrix<T>* foreign = foreign_block(rank);
    return matrix_operator<T>::matrix_bytes(rank) +
           (foreign != nullptr ? foreign->matrix_bytes() : 0) +
           (exchange_ ? exchange_->index_bytes(rank) : 0);
}

template <class T>
void pieces_operator<T>::distribute(std::span<const T> values) {
    std::vector<T> room;
    for (std::size_t rank = 0; rank < own_.size(); ++rank) {
        this->blocks_[rank]->update(own_[rank].of(values, room));
        if (foreign_[rank].matrix)
            foreign_[rank].matrix->update(foreign_[rank].entries.of(values, room));
    }
    for (auto& strays : strays_)
        for (stray_entry& s : strays) s.value = values[static_cast<std::size_t>(s.place)];
}

template <class T>
void pieces_operator<T>::check_device_update() const {
    throw usage_error(std::string("update_on_devices: operator ") + to_string(this->kind_) +
                      " takes new values by update(): its devices hold entries that are not those "
                      "of their rows; allowed are operators nz, halo and gather");
}

template class pieces_operator<double>;
template class pieces_operator<float>;

} // namespace krylith
