#include <krylith/precond/chebyshev/chebyshev_apply.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/precond/columns/columns_at_once.hpp>
#include <krylith/precond/matrix/canonical_matrix.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::detail {

namespace {

/// The entry of S from which on float keeps all its digits, also times a moderate r.
template <class W>
constexpr double least_scale = sizeof(W) == 4 ? 0x1p-125 : std::numeric_limits<double>::min();

} // namespace

template <class T, class W>
chebyshev_apply<T, W>::chebyshev_apply(const matrix_operator<T>& a, const csr_view<T>& matrix,
                                       const chebyshev_options& options)
    : options_(options),
      coefficients_(
          make_chebyshev_series(options.kind, options.degree, 1, options.ratio).coefficients),
      layout_(a.single().layout()),
      columns_(a.columns_at_once()) {
    check_size("chebyshev", *layout_, matrix.rows, matrix.columns);
    const canonical_matrix<T> ordered(matrix, layout_->order.get());
    pattern_ = pattern_of(ordered.view());
    const contents now = compute(ordered.view());
    const csr_view<W> values{matrix.rows, matrix.columns, ordered.view().row_offsets,
                             ordered.view().column_indices, now.values};
    std::optional<row_partition> rows = layout_->rows;
    auto source = make_source(layout_->group, values, pattern_state::valid, rows, {});
    source.order = layout_->order;
    const operator_options how = columns_ > 1 ? options_for(a) : operator_options();
    x_ = in_columns_of(a, build_operator(layout_->group, source,
                                         {.layouts = operator_layouts{layout_, layout_}}, how));
    s_.emplace(x_->make_range_vector(precond_item));
    sum_.emplace(x_->make_range_vector(precond_item));
    even_.emplace(x_->make_domain_vector(precond_item));
    odd_.emplace(x_->make_domain_vector(precond_item));
    even_->promise_single_reader();
    odd_->promise_single_reader();
    take(now);
}

template <class T, class W>
typename chebyshev_apply<T, W>::contents
chebyshev_apply<T, W>::compute(const csr_view<T>& matrix) const {
    contents now;
    now.scaling = scale_by_diagonal(matrix, least_scale<W>);
    now.series =
        make_chebyshev_series(options_.kind, options_.degree, now.scaling.lambda, options_.ratio);
    now.values = shifted_values<W>(matrix, now.scaling, now.series.center, now.series.radius);
    return now;
}

/// S lies on the devices in the operator's order, in which compute() made it; an upload takes the
/// caller's.
template <class T, class W>
void chebyshev_apply<T, W>::take(const contents& now) {
    const auto k = static_cast<std::size_t>(columns_);
    std::vector<W> s(now.scaling.s.size() * k);
    for (std::size_t row = 0; row < now.scaling.s.size(); ++row) {
        const auto to =
            static_cast<std::size_t>(layout_->row_of_caller(static_cast<std::int64_t>(row)));
        std::fill_n(s.data() + to * k, k, static_cast<W>(now.scaling.s[row]));
    }
    s_->upload(s);
    lambda_ = now.scaling.lambda;
    constexpr int usual = sizeof(T) == 8 ? 130 : 40;
    const bool moderate = std::abs(now.scaling.exponent) <= usual;
    *size_ = (moderate ? std::ldexp(1.0, now.scaling.exponent) : 1) / lambda_;
}

template <class T, class W>
void chebyshev_apply<T, W>::update(const csr_view<T>& matrix) {
    refuse_new_values("chebyshev", columns_);
    check_size("chebyshev", *layout_, matrix.rows, matrix.columns);
    const canonical_matrix<T> ordered(matrix, layout_->order.get());
    pattern_.expect("chebyshev", pattern_of(ordered.view()));
    const contents now = compute(ordered.view());
    x_->update(now.values);
    take(now);
}

/// With v_j = T_j(X) S r, where X = (center I - D^-1/2 A D^-1/2) / radius, z is a sum of the v_j,
/// and v_(j + 1) = 2 X v_j - v_(j - 1) is one product, which writes over v_(j - 1). Every second
/// time both vectors go into the sum, in one pass; the pass of the last ones writes z. r is scaled
/// by its norm; several columns have norm 1 or 0 each by themselves.
template <class T, class W>
void chebyshev_apply<T, W>::apply(execution& run, const vector<T>& r, vector<T>& z,
                                  std::span<const reduction_into<T>> dots) {
    const auto constant = [&](double c) { return scalar_value{&run, run.constant(c)}; };
    std::optional<scalar_value> rr;
    if (columns_ == 1) {
        rr = scalar_value{&run, norm_.in(run)};
        fused(run, reduction_into<T>{rr->number, &r, &r});
    }
    fused(run,
          *even_ = (rr ? divide_or_zero(constant(1), sqrt(*rr)) : constant(1)) * pointwise(*s_, r));

    const int products = options_.degree - 1;
    const auto c = [&](int j) { return coefficients_[static_cast<std::size_t>(j)]; };
    vector<W>* before = &*odd_; // v_(j - 1), and v_j
    vector<W>* now = &*even_;
    for (int j = 1; j <= products; ++j) {
        if (j >= 3 && j % 2 == 0) {
            fused(run, *sum_ += constant(c(j - 2)) * *before + constant(c(j - 1)) * *now);
        } else if (j == 2) {
            fused(run, *sum_ = constant(c(0)) * *before + constant(c(1)) * *now);
        }
        x_->apply(run, j == 1 ? W(1) : W(2), *now, j == 1 ? W(0) : W(-1), *before);
        if (j < products) put_ghosts(run, *before);
        std::swap(before, now);
    }

    scalar_value size{&run, run.follow(size_)};
    if (rr) size = sqrt(*rr) * size;
    const auto out = [&](double factor, vector<W>& v) {
        return (size * constant(factor)) * promote<T>(pointwise(*s_, v));
    };
    const double last = c(products);
    if (products == 0)
        fused(run, z = out(last, *now), dots);
    else if (products == 1)
        fused(run, z = out(c(0), *before) + out(last, *now), dots);
    else if (products % 2 == 0)
        fused(run, z = out(1, *sum_) + out(last, *now), dots);
    else
        fused(run, z = out(1, *sum_) + out(c(products - 1), *before) + out(last, *now), dots);
}

template <class T, class W>
std::int64_t chebyshev_apply<T, W>::bytes() const {
    std::int64_t most = 0;
    for (int rank = 0; rank < layout_->group.size(); ++rank) {
        const layout& of = *x_->layout();
        const std::int64_t ghosts = of.kind == coherence::replicated ? 0 : x_->received(rank);
        const auto w = static_cast<std::int64_t>(sizeof(W));
        most = std::max(most, x_->matrix_bytes(rank) + (4 * of.held(rank) + 2 * ghosts) * w);
    }
    return most;
}

template class chebyshev_apply<float, float>;
#define KRYLITH_INSTANTIATE(T) template class chebyshev_apply<double, T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
