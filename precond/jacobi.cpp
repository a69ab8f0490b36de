#include <krylith/precond/jacobi.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/diagonal/diagonal_inverse.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/scaling/diagonal_scaling.hpp>
#include <krylith/precond/scaling/diagonal_tasks.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

/// Only the diagonal of a matrix in host memory travels.
template <class T>
void take_diagonal(const matrix_ref<T>& matrix, vector<T>& to) {
    const layout& layout = *to.layout();
    if (matrix.on_host() != nullptr) {
        detail::check_size("jacobi", layout, matrix.rows(), matrix.columns());
        return to.upload(diagonal(*matrix.on_host()));
    }
    const auto a = detail::on_devices("jacobi", layout, matrix, part_values::borrowed,
                                      detail::global_columns::any_number);
    for (const int rank : layout.comm.local())
        run_items(layout.comm[rank],
                  detail::take_diagonal_task<T>{a.block(rank).view(),
                                                a.columns_of(rank).first_owned(),
                                                to.data(rank) + layout.first_owned(rank)},
                  a.block(rank).rows());
    detail::share_owned(to);
    layout.comm.synchronize(); // values that are borrowed may be freed afterwards
}

} // namespace

template <class T>
jacobi<T>::jacobi(layout_handle layout)
    : inverse_(std::make_unique<vector<T>>(std::move(layout), "preconditioner")) {
    const communicator& comm = inverse_->layout()->comm;
    reports_ = by_rank(comm, [&](int rank) {
        return buffer<inversion_report>(comm.handle(rank), 1, "preconditioner");
    });
}

template <class T>
template <class Take>
jacobi<T> jacobi<T>::made_of(const layout_handle& layout, const Take& take) {
    return layout->comm.together([&] {
        jacobi made(layout);
        take(*made.inverse_);
        made.invert(*made.inverse_);
        return made;
    });
}

template <class T>
jacobi<T>::jacobi(const matrix_operator<T>& a)
    : jacobi(made_of(square_layout(a.layouts(), "jacobi"),
                     [&](vector<T>& diagonal) { a.diagonal(diagonal); })) {}

template <class T>
jacobi<T>::jacobi(const matrix_operator<T>& a, const matrix_ref<T>& matrix)
    : jacobi(made_of(square_layout(a.layouts(), "jacobi"),
                     [&](vector<T>& diagonal) { take_diagonal(matrix, diagonal); })) {}

template <class T>
void jacobi<T>::update(const matrix_operator<T>& a) {
    update_by([&](vector<T>& diagonal) {
        if (a.layout() != inverse_->layout())
            throw usage_error("jacobi: update() by another operator than it was made for");
        a.diagonal(diagonal);
    });
}

template <class T>
void jacobi<T>::update(const matrix_ref<T>& matrix) {
    update_by([&](vector<T>& diagonal) { take_diagonal(matrix, diagonal); });
}

/// The inverse stays where it is, since recorded loops read it there.
template <class T>
template <class Take>
void jacobi<T>::update_by(const Take& take) {
    const layout& layout = *inverse_->layout();
    layout.comm.together([&] {
        if (!spare_) spare_.emplace(inverse_->layout(), "preconditioner");
        take(*spare_);
        invert(*spare_);
        for (const int rank : layout.comm.local())
            layout.comm[rank].copy(inverse_->data(rank), spare_->data(rank),
                                   static_cast<std::size_t>(layout.held(rank)) * sizeof(T));
    });
}

template <class T>
void jacobi<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                      std::span<const reduction_into<T>> dots) const {
    fused(run, z = *pointwise(r), dots);
}

template <class T>
std::int64_t jacobi<T>::bytes() const {
    const layout& layout = *inverse_->layout();
    std::int64_t most = 0;
    for (const int rank : layout.comm.local()) most = std::max(most, layout.held(rank));
    const auto vectors = static_cast<std::int64_t>(spare_ ? 2 : 1);
    return vectors * most * static_cast<std::int64_t>(sizeof(T)) +
           static_cast<std::int64_t>(sizeof(inversion_report));
}

/// Each device inverts all entries that it holds: where vectors are replicated, those of every
/// rank.
template <class T>
void jacobi<T>::invert(vector<T>& diagonal) {
    const layout& layout = *diagonal.layout();
    const communicator& comm = layout.comm;
    for (const int rank : comm.local()) {
        const auto& report = reports_[static_cast<std::size_t>(rank)];
        report.zero();
        KRYLITH_ON(comm[rank], invert_diagonal(comm[rank], diagonal.data(rank), layout.held(rank),
                                               report.data()));
    }
    auto exponents = by_rank(comm, [&](int rank) {
        const auto report = reports_[static_cast<std::size_t>(rank)].download().front();
        if (report.bad == 0) return report.exponent;
        const auto place = static_cast<std::int64_t>(~report.bad);
        T entry{};
        comm[rank].download(&entry, diagonal.data(rank) + place, sizeof(T));
        const auto row =
            layout.row_of_caller(place + layout.rows.owned(rank).begin - layout.first_owned(rank));
        throw input_error(
            "Jacobi preconditioner: the diagonal entry of row " + std::to_string(row) +
            " (counted from 0) is " + number_text(static_cast<double>(entry)) +
            "; it and its inverse must be finite. Solve without Jacobi, or with rows in "
            "another order (matched_rows, --match-rows)");
    });
    comm.all_gather(exponents);
    const std::uint64_t exponent = std::ranges::max(exponents);
    if (exponent != 0)
        moderate(diagonal, static_cast<int>(static_cast<std::int64_t>(exponent) -
                                            inversion_report::exponent_bias));
}

/// Solvers form products such as r'M^-1 r, which overflow or vanish where the entries of M^-1 are
/// extreme. A power of two, which changes no method's iterates, then brings the largest entry to
/// about 1. Its exponent is even, so that the square root stays exact. This is rare, so it goes
/// through the host.
template <class T>
void jacobi<T>::moderate(vector<T>& inverse, int exponent) const {
    constexpr int usual = sizeof(T) == 8 ? 130 : 40;
    if (std::abs(exponent) <= usual) return;
    std::vector<T> values(static_cast<std::size_t>(inverse.size()));
    inverse.download(values);
    for (T& v : values) v = std::ldexp(v, -exponent / 2 * 2);
    inverse.upload(values);
}

template <class T>
jacobi<T> jacobi<T>::square_root() const {
    return inverse_->layout()->comm.together([&] {
        std::vector<T> roots(static_cast<std::size_t>(inverse_->size()));
        inverse_->download(roots);
        for (std::size_t row = 0; row < roots.size(); ++row) {
            if (roots[row] < T(0))
                throw input_error("split Jacobi: the diagonal entry of row " + std::to_string(row) +
                                  " (counted from 0) is negative, so M has no real square root; "
                                  "use left or right preconditioning");
            roots[row] = std::sqrt(roots[row]);
        }
        jacobi result(inverse_->layout());
        result.inverse_->upload(roots);
        return result;
    });
}

#define KRYLITH_INSTANTIATE(T) template class jacobi<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

template <class T>
any_preconditioner<T> make_jacobi(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                  const method_parameters&) {
    return matrix != nullptr ? jacobi<T>(a, *matrix) : jacobi<T>(a);
}

std::string no_jacobi_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.has_zeros())
        return std::to_string(d.missing + d.zeros) + " of " + std::to_string(d.length) +
               " diagonal entries are 0";
    if (!std::isfinite(1 / d.smallest)) return "the inverse of a diagonal entry overflows";
    if (d.least == d.most) return "all diagonal entries are equal, so that it changes nothing";
    return {};
}

} // namespace

constinit const preconditioner_method preconditioner_rows::jacobi = {
    .name = "jacobi",
    .aliases = {"diagonal", "diag", "pointjacobi"},
    .help = "divides by the diagonal",
    .parameters = std::span<const parameter_rule>(),
    .needs_spd = false,
    .needs_matrix = false,
    .pointwise = true,
    .listed = true,
    .chosen_from = 0,
    .no_use_because = no_jacobi_because,
    .kept_bytes = [](const preconditioner_size& s,
                     const method_parameters&) { return std::optional(s.value_bytes * s.rows); },
    .moved_bytes =
        [](const preconditioner_size& s, const method_parameters&) {
            return std::optional(static_cast<double>(s.value_bytes * s.rows));
        },
    .make = preconditioner_makers{make_jacobi<double>, make_jacobi<float>},
    .is_diagonal = true,
};

} // namespace krylith
