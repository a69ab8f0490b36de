#include <krylith/precond/incomplete/device_factors.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/incomplete/order_choice.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/overlapping_blocks.hpp>

namespace krylith::incomplete {

namespace {

std::size_t at(int rank) {
    return static_cast<std::size_t>(rank);
}

[[noreturn]] void refuse_factors(const factor_request& request, const factor_failure& failure,
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
device_factors<T>::device_factors(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                                  const factor_request& request)
    : layout_(square_layout(a.layouts(), request.who)),
      request_(request),
      made_(make(blocks_of(matrix))) {}

template <class T>
typename device_factors<T>::given_blocks
device_factors<T>::blocks_of(const matrix_ref<T>& matrix) const {
    distributed_csr<T> spread =
        detail::with_moderate_values(detail::on_devices(request_.who, *layout_, matrix));
    given_blocks given;
    if (layout_->kind == coherence::replicated) {
        given.matrices = detail::whole_on_each(std::move(spread));
    } else if (request_.overlap > 0 && layout_->comm.ranks() > 1) {
        detail::overlapping_blocks<T> blocks =
            detail::make_overlapping_blocks(spread, request_.overlap);
        given.matrices = std::move(blocks.matrices);
        given.rows = std::move(blocks.rows);
    } else {
        given.matrices.push_back(std::move(spread));
    }
    return given;
}

template <class T>
typename device_factors<T>::block_list
device_factors<T>::lay_out(const matrix_list& given,
                           const std::vector<row_colours>& colours) const {
    block_list blocks(at(layout_->comm.ranks()));
    on_each_rank(layout_->comm, [&](int rank) {
        const block_place from = place_of(given, rank);
        blocks[at(rank)] = std::make_unique<factor_block<T>>(
            given[from.matrix], from.rank, colours.empty() ? nullptr : &colours[from.matrix],
            request_.rule);
    });
    return blocks;
}

template <class T>
void device_factors<T>::factor(const result& made) const {
    std::vector<factor_failure> failures(made.blocks.size());
    on_each_rank(layout_->comm, [&](int rank) {
        factor_failure& failure = failures[at(rank)];
        failure = made.blocks[at(rank)]->factor();
        if (failure.what != factor_failure::kind::none)
            failure.row = made.vectors->row_of(rank, failure.row);
    });
    layout_->comm.all_gather(failures);
    for (const factor_failure& failure : failures)
        if (failure.what != factor_failure::kind::none)
            refuse_factors(request_, failure, layout_->row_of_caller(failure.row));
}

/// Whether rows are taken by colours, and why. Levels are counted before anything is laid out.
template <class T>
bool device_factors<T>::take_colours(const matrix_list& given, std::string& reason) const {
    reason = "as it was asked for";
    if (request_.order != elimination_order::automatic)
        return request_.order == elimination_order::colours;
    const communicator& comm = layout_->comm;
    reason = "host devices lose nothing by it";
    if (comm.kind() == backend::host) return false;
    std::vector<std::int64_t> levels(at(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const block_place from = place_of(given, rank);
        levels[at(rank)] = count_natural_levels(given[from.matrix], from.rank);
    });
    bool pay = false;
    for (const int rank : comm.local()) {
        const block_place from = place_of(given, rank);
        const device_csr<T>& block = given[from.matrix].block(from.rank);
        pay = pay || colours_pay(levels[at(rank)], block.rows(), block.nonzeros(),
                                 static_cast<std::int64_t>(sizeof(T)));
    }
    comm.all_gather(levels);
    reason = "natural order has " + std::to_string(std::ranges::max(levels)) + " levels";
    return comm.any(pay);
}

template <class T>
typename device_factors<T>::result device_factors<T>::make(const given_blocks& given) const {
    const communicator& comm = layout_->comm;
    result made;
    std::vector<row_colours> colours;
    if (take_colours(given.matrices, made.reason)) {
        if (given.matrices.size() == 1)
            colours.push_back(colour_rows(given.matrices.front()));
        else
            colours =
                by_rank(comm, [&](int rank) { return colour_rows(given.matrices[at(rank)]); });
        auto counts = by_rank(
            comm, [&](int rank) { return colours[place_of(given.matrices, rank).matrix].count(); });
        comm.all_gather(counts);
        made.colours = std::ranges::max(counts);
        made.order = elimination_order::colours;
    }
    made.vectors = given.rows.empty() ? std::make_unique<block_vectors<T>>(layout_)
                                      : std::make_unique<block_vectors<T>>(layout_, given.rows);
    made.blocks = lay_out(given.matrices, colours);
    factor(made);
    on_each_rank(comm, [&](int rank) { made.blocks[at(rank)]->accept(); });
    auto nonzeros = by_rank(comm, [&](int rank) { return made.blocks[at(rank)]->nonzeros(); });
    comm.all_gather(nonzeros);
    made.nonzeros = std::accumulate(nonzeros.begin(), nonzeros.end(), std::int64_t{0});
    return made;
}

template <class T>
bool device_factors<T>::update(const matrix_ref<T>& matrix) {
    const communicator& comm = layout_->comm;
    const given_blocks given = blocks_of(matrix);
    std::vector<char> differs(made_.blocks.size()); // of local ranks
    const auto take = [&](int rank) {
        const block_place from = place_of(given.matrices, rank);
        differs[at(rank)] = static_cast<char>(
            !made_.blocks[at(rank)]->take(given.matrices[from.matrix], from.rank, request_.rule));
    };
    const auto forget = [&] {
        for (const int rank : comm.local()) made_.blocks[at(rank)]->forget();
    };
    try {
        // Blocks with other rows have another pattern, and no place for what take() lays out.
        bool same = !comm.any(!made_.vectors->has(given.rows));
        if (same) {
            on_each_rank(comm, take);
            same = !comm.any(std::ranges::count(differs, char{1}) != 0);
        }
        if (same) {
            factor(made_);
            on_each_rank(comm, [&](int rank) { made_.blocks[at(rank)]->accept(); });
        } else {
            forget();
            made_ = make(given);
        }
        return same;
    } catch (...) {
        forget();
        throw;
    }
}

template <class T>
void device_factors<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                              std::span<const reduction_into<T>> dots) {
    made_.vectors->apply(run, request_.who, r, z, dots, [&](int rank, const T* from, T* to) {
        made_.blocks[at(rank)]->solve(from, to);
    });
}

template <class T>
std::int64_t device_factors<T>::bytes() const {
    std::int64_t most = 0;
    for (const int rank : layout_->comm.local())
        most = std::max(most, block(rank).bytes() + made_.vectors->bytes(rank));
    return most;
}

template <class T>
std::int64_t device_factors<T>::levels() const {
    std::int64_t most = 0;
    for (const int rank : layout_->comm.local()) most = std::max(most, block(rank).levels());
    return most;
}

template <class T>
std::string device_factors<T>::reason() const {
    std::string text = std::string(to_string(made_.order)) + " order, " + made_.reason;
    if (made_.colours != 0) text += ": " + std::to_string(made_.colours) + " colours";
    return text + "; solves: " + block(layout_->comm.first_local()).reason();
}

template <class T>
int device_factors<T>::kernels() const {
    const int solves =
        made_.order == elimination_order::colours ? 4 + 2 * std::min(made_.colours, 64) : 4;
    return solves + made_.vectors->kernels();
}

#define KRYLITH_INSTANTIATE(T) template class device_factors<T>;
#include <krylith/device/language/instantiate.inc>

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
