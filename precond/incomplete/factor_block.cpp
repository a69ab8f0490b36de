#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/incomplete/factor_block.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/incomplete/pattern_steps.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::incomplete {

namespace {

std::size_t as_size(std::int64_t count) {
    return static_cast<std::size_t>(count);
}

} // namespace

template <class T>
factor_rows<T> placed_block<T>::view(bool symmetric) const {
    return {static_cast<std::int64_t>(diagonals.size()),
            static_cast<std::int64_t>(values.size()),
            offsets.data(),
            columns.data(),
            diagonals.data(),
            values.data(),
            failures.data(),
            symmetric};
}

template <class T>
factor_block<T>::factor_block(const distributed_csr<T>& a, int rank, const row_colours* colours,
                              const factor_rule& rule)
    : device_(a.comm().handle(rank)), symmetric_(rule.symmetric) {
    const std::int64_t rows = a.block(rank).rows();
    if (colours != nullptr) {
        places_ = {device_, as_size(rows), precond_item};
        work_ = {device_, as_size(rows), precond_item};
        visit_rows(*device_, rows, 1, place_step{{}, colours->order(rank), places_.data()});
        const std::span<const std::int64_t> begin = colours->begin(rank);
        colours_.assign(begin.begin(), begin.end());
    }
    next_ = lay_out(a, rank, static_cast<T>(rule.shift));
}

template <class T>
placed_block<T> factor_block<T>::lay_out(const distributed_csr<T>& a, int rank, T shift) const {
    const device_csr_view<T> view = a.block(rank).view();
    const placed_rows rows{aggregation::rows_of(a, rank), places_.data()};
    const std::int64_t mean = aggregation::mean_entries(a, rank);
    placed_block<T> block;
    block.offsets = {device_, as_size(view.rows) + 1, precond_item};
    block.diagonals = {device_, as_size(view.rows), precond_item};
    block.failures = {device_, 1, precond_item};
    block.failures.zero();
    visit_rows(*device_, view.rows, mean, count_owned_step{rows, block.diagonals.data()});
    add_up_sizes(device_, view.rows, block.diagonals.data(), block.offsets.data());
    std::int64_t entries = 0;
    device_->download(&entries, block.offsets.data() + view.rows, sizeof entries);
    block.columns = {device_, as_size(entries), precond_item};
    block.values = {device_, as_size(entries), precond_item};
    visit_rows(*device_, view.rows, mean,
               fill_owned_step<T>{rows, view.values, shift, block.offsets.data(),
                                  block.columns.data(), block.diagonals.data(), block.values.data(),
                                  block.failures.data()});
    return block;
}

template <class T>
bool factor_block<T>::take(const distributed_csr<T>& a, int rank, const factor_rule& rule) {
    next_ = lay_out(a, rank, static_cast<T>(rule.shift));
    const device_csr_view<T> known = factors_.view();
    if (known.nonzeros != static_cast<std::int64_t>(next_.values.size())) return false;
    const buffer<std::uint32_t> differs(device_, 1, precond_item);
    differs.zero();
    visit_rows(*device_, known.rows, 1,
               same_pattern_step{{},
                                 known.offsets,
                                 known.indices,
                                 next_.offsets.data(),
                                 next_.columns.data(),
                                 differs.data()});
    return differs.download().front() == 0;
}

/// For messages alone.
template <class T>
std::int64_t factor_block<T>::row_at(std::int64_t place) const {
    const std::vector<std::int32_t> places = places_.download();
    const auto found = std::find(places.begin(), places.end(), static_cast<std::int32_t>(place));
    return found == places.end() ? place : found - places.begin();
}

template <class T>
factor_failure factor_block<T>::factor() {
    const factor_rows<T> rows = next_.view(symmetric_);
    if (elimination_ == nullptr) elimination_ = make_elimination<T>(device_, rows, colours_);
    elimination_->run(rows);
    const failure_words found = next_.failures.download().front();
    const auto place_of = [](std::uint32_t word) { return static_cast<std::int64_t>(~word); };
    if (found.entries != 0) return {factor_failure::kind::entry, place_of(found.entries), 0};
    if (found.unmirrored != 0)
        return {factor_failure::kind::unmirrored, row_at(place_of(found.unmirrored)), 0};
    if (found.pivots == 0) return {};
    const std::int64_t place = place_of(found.pivots);
    std::int64_t begin = 0;
    std::int32_t before = 0;
    T pivot = 0;
    device_->download(&begin, rows.offsets + place, sizeof begin);
    device_->download(&before, rows.diagonals + place, sizeof before);
    device_->download(&pivot, rows.values + begin + before, sizeof pivot);
    return {factor_failure::kind::pivot, row_at(place), static_cast<double>(pivot)};
}

template <class T>
std::int64_t factor_block<T>::count_levels() const {
    return incomplete::count_levels(device_, next_.view(symmetric_));
}

template <class T>
void factor_block<T>::accept() {
    if (forward_) {
        if (factors_.nonzeros() != 0)
            device_->copy(factors_.values(), next_.values.data(),
                          as_size(factors_.nonzeros()) * sizeof(T));
        next_ = {};
        forward_->update();
        backward_->update();
        return;
    }
    const std::int64_t rows = static_cast<std::int64_t>(next_.diagonals.size());
    factors_ = device_csr<T>(device_, rows, std::move(next_.offsets), std::move(next_.columns),
                             std::move(next_.values));
    next_ = {};
    forward_.emplace(factors_, triangular_options{.part = triangle_part::lower,
                                                  .diagonal = triangle_diagonal::unit,
                                                  .ranges = colours_});
    backward_.emplace(factors_,
                      triangular_options{.part = triangle_part::upper, .ranges = colours_});
}

template <class T>
void factor_block<T>::solve(const T* r, T* z) {
    if (places_.size() == 0) {
        forward_->solve(r, z);
        backward_->solve(z, z);
        return;
    }
    run_items(*device_, scatter_items<T>{places_.data(), r, work_.data()}, rows());
    forward_->solve(work_.data(), work_.data());
    backward_->solve(work_.data(), work_.data());
    run_items(*device_, gather_items<T, std::int32_t>{{places_.data()}, work_.data(), z}, rows());
}

template <class T>
std::int64_t factor_block<T>::bytes() const {
    return static_cast<std::int64_t>(places_.size() * sizeof(std::int32_t) +
                                     work_.size() * sizeof(T)) +
           (elimination_ ? elimination_->bytes() : 0) + factors_.bytes() +
           (forward_ ? forward_->bytes() : 0) + (backward_ ? backward_->bytes() : 0);
}

template <class T>
std::int64_t count_natural_levels(const distributed_csr<T>& a, int rank) {
    if (!a.columns_of(rank).ghosts().empty())
        return factor_block<T>(a, rank, nullptr, {}).count_levels();
    const device_csr_view<T> view = a.block(rank).view();
    factor_rows<T> rows;
    rows.rows = view.rows;
    rows.nonzeros = view.nonzeros;
    rows.offsets = view.offsets;
    rows.columns = view.indices;
    return count_levels(a.comm().handle(rank), rows);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::int64_t count_natural_levels(const distributed_csr<T>&, int);                    \
    template struct placed_block<T>;                                                               \
    template class factor_block<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::incomplete
