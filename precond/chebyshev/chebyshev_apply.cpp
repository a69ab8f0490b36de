#include <krylith/precond/chebyshev/chebyshev_apply.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/columns/columns_at_once.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/precond/scaling/diagonal_tasks.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::detail {

namespace {

constexpr const char* chebyshev_name = "chebyshev";

/// The entry of S from which on float keeps all its digits, also times a moderate r.
template <class W>
constexpr double least_scale = sizeof(W) == 4 ? 0x1p-125 : std::numeric_limits<double>::min();

/// Refuses a matrix for whose scaling W has too small a range.
template <class W, class T>
void check_range(const diagonal_scaling& by, const distributed_csr<T>& a, const layout& layout) {
    const int exponent = std::ilogb(by.largest);
    const auto fits = [&](double s) { return std::ldexp(s, -exponent) >= least_scale<W>; };
    if (a.rows() == 0 || fits(1 / by.inverse)) return;
    for (const int rank : a.comm().local()) {
        const std::vector<double> s = by.s[static_cast<std::size_t>(rank)].download();
        const row_range rows = a.row_owners().owned(rank);
        for (std::int64_t row = 0; row < rows.size(); ++row) {
            const double own = s[static_cast<std::size_t>(a.columns_of(rank).first_owned() + row)];
            if (fits(own)) continue;
            throw input_error("chebyshev: the diagonal entry of row " +
                              std::to_string(layout.row_of_caller(rows.begin + row)) +
                              " (counted from 0) is " + number_text(1 / (own * own)) +
                              ", too far above the smallest, " +
                              number_text(1 / (by.largest * by.largest)) +
                              ", for fp32. Allowed for such matrices is precision=fp64");
        }
    }
}

} // namespace

template <class T, class W>
chebyshev_apply<T, W>::chebyshev_apply(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                                       const chebyshev_options& options)
    : options_(options),
      coefficients_(
          make_chebyshev_series(options.kind, options.degree, 1, options.ratio).coefficients),
      layout_(square_layout(a.single().layouts(), chebyshev_name)),
      vectors_(a.layout()),
      columns_(a.columns_at_once()) {
    const contents now = compute(matrix);
    pattern_ = now.pattern;
    const layout_handle plain = without_order(layout_);
    x_ = in_columns_of(a, make_operator(operator_layouts{plain, plain}, now.x, options_for(a)));
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
chebyshev_apply<T, W>::compute(const matrix_ref<T>& matrix) const {
    const distributed_csr<T> a = on_devices(chebyshev_name, *layout_, matrix, part_values::borrowed,
                                            global_columns::any_number);
    contents now;
    now.pattern = pattern_of(a);
    now.scaling = scaling_of(a, {chebyshev_name, 0, layout_.get()});
    check_range<W>(now.scaling, a, *layout_);
    const chebyshev_series series =
        make_chebyshev_series(options_.kind, options_.degree, now.scaling.bound, options_.ratio);
    const double lambda = std::exchange(now.scaling.bound, -series.radius);
    now.x = scaled<W>(a, now.scaling); // -D^-1/2 A D^-1/2 / radius
    now.scaling.bound = lambda;
    for (const int rank : a.comm().local()) {
        const device_csr_view<T> rows = a.block(rank).view();
        const auto diagonal = static_cast<W>((series.center - 1) / series.radius);
        run_items(a.comm()[rank],
                  set_diagonal_task<T, W>{rows, a.columns_of(rank).first_owned(), diagonal,
                                          now.x.block(rank).values()},
                  rows.rows);
    }
    a.comm().synchronize(); // values that are borrowed may be freed afterwards
    return now;
}

template <class T, class W>
void chebyshev_apply<T, W>::take(const contents& now) {
    std::vector<std::int64_t> first_owned;
    for (const local_columns& columns : now.x.all_columns())
        first_owned.push_back(columns.first_owned());
    lambda_ = now.scaling.bound;
    *size_ = moderate_factor<T>(take_moderate(now.scaling, first_owned, columns_, *s_)) / lambda_;
}

template <class T, class W>
bool chebyshev_apply<T, W>::update(const matrix_ref<T>& matrix) {
    refuse_new_values(chebyshev_name, columns_);
    const contents now = compute(matrix);
    pattern_.expect(chebyshev_name, now.pattern);
    x_->update_on_devices(now.x.values());
    take(now);
    return true;
}

/// With v_j = T_j(X) S r, where X = (center I - D^-1/2 A D^-1/2) / radius, z is a sum of the v_j,
/// and v_(j + 1) = 2 X v_j - v_(j - 1) is one product, which writes over v_(j - 1). Every second
/// time both vectors go into the sum, in one pass; the pass of the last ones writes z. r is scaled
/// by its norm; several columns have norm 1 or 0 each by themselves.
template <class T, class W>
void chebyshev_apply<T, W>::run_polynomial(execution& run, const vector<T>& r, vector<T>& z,
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
void chebyshev_apply<T, W>::apply(execution& run, const vector<T>& r, vector<T>& z,
                                  std::span<const reduction_into<T>> dots) {
    if (r.layout() != vectors_ || z.layout() != vectors_)
        throw usage_error("preconditioner chebyshev was made for vectors of another operator");
    apply_without_order(
        run, x_->layout(), r, z, dots,
        [&](const vector<T>& from, vector<T>& to, std::span<const reduction_into<T>> now) {
            run_polynomial(run, from, to, now);
        });
}

template <class T, class W>
std::int64_t chebyshev_apply<T, W>::bytes() const {
    std::int64_t most = 0;
    for (const int rank : layout_->comm.local()) {
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
