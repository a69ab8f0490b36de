#include <krylith/precond/incomplete/device_factors.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/device/threads/each_rank.hpp>
#include <krylith/precond/incomplete/order_choice.hpp>
#include <krylith/spmv/building/reordered_matrix.hpp>
#include <krylith/spmv/distributed_products.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::incomplete {

namespace {

std::size_t at(int rank) {
    return static_cast<std::size_t>(rank);
}

/// One rank has all rows.
row_partition all_on(int rank, int ranks, std::int64_t rows) {
    row_partition result;
    for (int r = 0; r < ranks; ++r) result.begin.push_back(r < rank ? 0 : rows);
    return result;
}

template <class T>
distributed_csr<T> in_order(distributed_csr<T> matrix) {
    if (matrix.rows_ascend()) return matrix;
    return sorted_rows<T>(matrix).apply(matrix);
}

[[noreturn]] void refuse(const factor_request& request, const factor_failure& failure,
                         std::int64_t row) {
    const std::string where = "row " + std::to_string(row) + " (counted from 0)";
    if (failure.what == factor_failure::kind::entry)
        throw input_error(request.who + ": an entry of " + where + " is not finite");
    if (failure.what == factor_failure::kind::unmirrored)
        throw input_error(request.who + ": " + where +
                          " has an entry whose mirror image is not in the matrix; the pattern must "
                          "be symmetric");
    throw input_error(request.who + ": the pivot of " + where + " is " +
                      number_text(failure.pivot) +
                      (request.rule.symmetric ? ", must be positive"
                                              : ", or its factors are not "
                                                "finite") +
                      "; " + request.who + "_options::shift adds to the diagonal");
}

} // namespace

template <class T>
device_factors<T>::device_factors(layout_handle layout, const csr_view<T>& matrix,
                                  const factor_request& request)
    : layout_(std::move(layout)),
      request_(request),
      made_(make(spread(matrix))),
      work_(std::in_place, layout_, "preconditioner") {}

/// The matrix over the devices, its rows in the operator's order; where each device needs it whole,
/// once for each.
template <class T>
std::vector<distributed_csr<T>> device_factors<T>::spread(const csr_view<T>& given) const {
    const layout& layout = *layout_;
    if (given.rows != layout.size() || given.columns != layout.size())
        throw usage_error(request_.who + ": a matrix of " + std::to_string(given.rows) + " x " +
                          std::to_string(given.columns) + " for an operator of " +
                          std::to_string(layout.size()) + " rows");
    (void)validate(given);
    csr_matrix<T> moved;
    csr_view<T> matrix = given;
    if (layout.order) {
        moved = reordered(given, *layout.order).matrix;
        matrix = csr_view<T>(moved);
    }
    std::vector<distributed_csr<T>> matrices;
    const int ranks = layout.group.size();
    if (layout.kind != coherence::replicated) {
        matrices.push_back(
            in_order(distributed_csr<T>(layout.group, matrix, layout.rows, layout.rows)));
        return matrices;
    }
    for (int rank = 0; rank < ranks; ++rank) {
        const row_partition owners = all_on(rank, ranks, layout.size());
        matrices.push_back(in_order(distributed_csr<T>(layout.group, matrix, owners, owners)));
    }
    return matrices;
}

template <class T>
typename device_factors<T>::block_list
device_factors<T>::lay_out(const std::vector<distributed_csr<T>>& given,
                           const std::vector<row_colours>& colours) const {
    block_list blocks(at(layout_->group.size()));
    on_each_rank(layout_->group, [&](int rank) {
        const std::size_t from = given.size() == 1 ? 0 : at(rank);
        blocks[at(rank)] = std::make_unique<factor_block<T>>(
            given[from], rank, colours.empty() ? nullptr : &colours[from], request_.rule);
    });
    return blocks;
}

template <class T>
void device_factors<T>::factor(const block_list& blocks) const {
    std::vector<factor_failure> failures(blocks.size());
    on_each_rank(layout_->group,
                 [&](int rank) { failures[at(rank)] = blocks[at(rank)]->factor(); });
    for (int rank = 0; rank < layout_->group.size(); ++rank) {
        const factor_failure& failure = failures[at(rank)];
        if (failure.what == factor_failure::kind::none) continue;
        const std::int64_t first =
            layout_->kind == coherence::replicated ? 0 : layout_->rows.owned(rank).begin;
        refuse(request_, failure, layout_->row_of_caller(first + failure.row));
    }
}

template <class T>
typename device_factors<T>::result
device_factors<T>::make(const std::vector<distributed_csr<T>>& given) const {
    result made;
    bool by_colours = request_.order == elimination_order::colours;
    made.reason = "as it was asked for";
    if (request_.order == elimination_order::automatic && layout_->group.kind() == backend::host)
        made.reason = "host devices lose nothing by it";
    if (!by_colours) made.blocks = lay_out(given, {});
    if (request_.order == elimination_order::automatic && layout_->group.kind() != backend::host) {
        std::int64_t levels = 0;
        for (const auto& block : made.blocks) {
            const std::int64_t own = block->count_levels();
            levels = std::max(levels, own);
            by_colours =
                by_colours || colours_pay(own, block->laid_out_rows(), block->laid_out_nonzeros(),
                                          static_cast<std::int64_t>(sizeof(T)));
        }
        made.reason = "natural order has " + std::to_string(levels) + " levels";
    }
    if (by_colours) {
        made.blocks.clear();
        std::vector<row_colours> colours;
        for (const auto& one : given) colours.push_back(colour_rows(one));
        made.colours = colours.front().count();
        made.order = elimination_order::colours;
        made.blocks = lay_out(given, colours);
    }
    factor(made.blocks);
    on_each_rank(layout_->group, [&](int rank) { made.blocks[at(rank)]->accept(); });
    return made;
}

template <class T>
void device_factors<T>::update(const csr_view<T>& matrix, recording_identity& identity) {
    const std::vector<distributed_csr<T>> given = spread(matrix);
    std::vector<char> same(made_.blocks.size());
    const auto take = [&](int rank) {
        same[at(rank)] = static_cast<char>(made_.blocks[at(rank)]->take(
            given[given.size() == 1 ? 0 : at(rank)], rank, request_.rule));
    };
    const auto forget = [&] {
        for (const auto& block : made_.blocks) block->forget();
    };
    try {
        on_each_rank(layout_->group, take);
        const bool all = std::find(same.begin(), same.end(), char{0}) == same.end();
        if (all) {
            factor(made_.blocks);
            on_each_rank(layout_->group, [&](int rank) { made_.blocks[at(rank)]->accept(); });
        } else {
            forget();
            made_ = make(given);
            identity.renew();
        }
    } catch (...) {
        forget();
        throw;
    }
}

/// Solves write an array of M's own: a loop that has stopped must not write z.
template <class T>
void device_factors<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                              std::span<const reduction_into<T>> dots) const {
    if (r.layout() != layout_ || z.layout() != layout_)
        throw usage_error("preconditioner " + request_.who +
                          " was made for vectors of another operator");
    for (int rank = 0; rank < run.ranks(); ++rank)
        if (layout_->held(rank) != 0)
            made_.blocks[at(rank)]->solve(r.data(rank), work_->data(rank));
    fused_update<T> update;
    update.add(z = *work_);
    update.add(dots);
    enqueue(run, update);
}

template <class T>
std::int64_t device_factors<T>::bytes() const {
    std::int64_t most = 0;
    for (int rank = 0; rank < layout_->group.size(); ++rank)
        most = std::max(most, block(rank).bytes() +
                                  layout_->held(rank) * static_cast<std::int64_t>(sizeof(T)));
    return most;
}

template <class T>
std::int64_t device_factors<T>::nonzeros() const {
    std::int64_t sum = 0;
    for (const auto& block : made_.blocks) sum += block->nonzeros();
    return sum;
}

template <class T>
std::int64_t device_factors<T>::levels() const {
    std::int64_t most = 0;
    for (const auto& block : made_.blocks) most = std::max(most, block->levels());
    return most;
}

template <class T>
std::string device_factors<T>::reason() const {
    std::string text = std::string(to_string(made_.order)) + " order, " + made_.reason;
    if (made_.colours != 0) text += ": " + std::to_string(made_.colours) + " colours";
    return text + "; solves: " + block(0).reason();
}

template <class T>
int device_factors<T>::kernels() const {
    return made_.order == elimination_order::colours ? 4 + 2 * std::min(made_.colours, 64) : 4;
}

template class device_factors<double>;
template class device_factors<float>;

} // namespace krylith::incomplete

namespace krylith {

const char* to_string(elimination_order order) noexcept {
    switch (order) {
    case elimination_order::natural: return "natural";
    case elimination_order::colours: return "colours";
    default: return "auto";
    }
}

} // namespace krylith
