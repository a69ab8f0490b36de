#include <krylith/precond/equilibration.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/scaling/diagonal_scaling.hpp>
#include <krylith/precond/scaling/equilibration_steps.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

/// Each pass halves the distance from 1, in logarithms.
constexpr int passes = 12;

/// log2 of S and where it lies.
struct scaling_logs {
    std::vector<buffer<double>> s;         ///< [rank], by local columns
    std::vector<std::int64_t> first_owned; ///< [rank]
    double largest = 0;
};

std::vector<buffer<double>> zeros_for(const distributed_csr<double>& a) {
    return by_rank(a.comm(), [&](int rank) {
        buffer<double> zeros(a.comm().handle(rank),
                             static_cast<std::size_t>(a.columns_of(rank).count()), precond_item);
        zeros.zero();
        return zeros;
    });
}

/// Finds the largest of each row of a matrix of logarithms, or raises what is there to it.
void find_largest(const distributed_csr<double>& logs, const std::vector<buffer<double>>& s,
                  const std::vector<buffer<double>>& largest, bool raises) {
    for (const int rank : logs.comm().local()) {
        const auto at = static_cast<std::size_t>(rank);
        const device_csr_view<double> a = logs.block(rank).view();
        visit_rows(logs.comm()[rank], a.rows, aggregation::mean_entries(logs, rank),
                   detail::largest_of_row_step{a.offsets, a.indices, a.values, s[at].data(),
                                               largest[at].data(), raises});
    }
}

double largest_of(const communicator& comm, const scaling_logs& found, const row_partition& rows) {
    auto of_ranks = by_rank(comm, [&](int rank) {
        const auto at = static_cast<std::size_t>(rank);
        buffer<unsigned long long> counters(comm.handle(rank), detail::largest_log_task::counters,
                                            precond_item);
        counters.zero();
        run_items(
            comm[rank],
            detail::largest_log_task{found.s[at].data() + found.first_owned[at], counters.data()},
            rows.owned(rank).size());
        return std::ranges::max(counters.download());
    });
    comm.all_gather(of_ranks);
    const unsigned long long most = std::ranges::max(of_ranks);
    return most == 0 ? 0 : std::bit_cast<double>(most) - detail::largest_log_task::above;
}

/// Columns are the rows of A'.
template <class T>
scaling_logs equilibrate(const distributed_csr<T>& matrix) {
    const communicator& comm = matrix.comm();
    const distributed_csr<double> a =
        matrix.template with_values<double>(precond_item, [&](int rank, double* logs) {
            run_items(comm[rank],
                      detail::magnitude_log_task<T>{matrix.block(rank).view().values, logs},
                      matrix.block(rank).nonzeros());
        });
    const distributed_csr<double> transposed = distributed_transposition<double>(a).take(a);
    scaling_logs found{zeros_for(a),
                       by_rank(comm, [&](int rank) { return a.columns_of(rank).first_owned(); })};
    const std::vector<buffer<double>> of_columns = zeros_for(transposed);
    const auto largest = by_rank(comm, [&](int rank) {
        return buffer<double>(comm.handle(rank), static_cast<std::size_t>(a.block(rank).rows()),
                              precond_item);
    });
    for (int pass = 0; pass < passes; ++pass) {
        find_largest(a, found.s, largest, false);
        find_largest(transposed, of_columns, largest, true);
        for (const int rank : comm.local()) {
            const auto at = static_cast<std::size_t>(rank);
            run_items(comm[rank],
                      detail::halve_distance_task{
                          largest[at].data(), found.s[at].data() + found.first_owned[at],
                          of_columns[at].data() + transposed.columns_of(rank).first_owned()},
                      a.block(rank).rows());
        }
        exchange_of_ghosts(a).fetch(found.s);
        exchange_of_ghosts(transposed).fetch(of_columns);
    }
    found.largest = largest_of(comm, found, a.row_owners());
    return found;
}

} // namespace

template <class T>
equilibration<T>::equilibration(layout_handle layout)
    : inverse_(std::make_unique<vector<T>>(std::move(layout), precond_item)) {}

template <class T>
equilibration<T>::equilibration(const matrix_operator<T>& a, const matrix_ref<T>& matrix)
    : equilibration(a.comm().together([&] {
          equilibration made(square_layout(a.layouts(), "equilibration"));
          made.take(matrix);
          return made;
      })) {}

template <class T>
void equilibration<T>::update(const matrix_ref<T>& matrix) {
    inverse_->layout()->comm.together([&] { take(matrix); });
}

/// Takes S^2, or 2^k of it, which changes no method's iterates: solvers form products such as
/// r'M^-1 r. k is even, so that the square root takes a power of two.
template <class T>
void equilibration<T>::take(const matrix_ref<T>& matrix) {
    constexpr bool wide = sizeof(T) == 8;
    constexpr double usual = wide ? 130 : 40;
    constexpr double span = wide ? 400 : 60;
    constexpr double least = wide ? -500 : -63; // the square of it is in range, too
    const layout& layout = *inverse_->layout();
    const scaling_logs found =
        equilibrate(detail::on_devices("equilibration", layout, matrix, part_values::borrowed));
    const double largest = 2 * found.largest;
    const double k = std::fabs(largest) <= usual ? 0 : -2 * std::round(largest / 2);
    for (const int rank : layout.comm.local()) {
        const auto at = static_cast<std::size_t>(rank);
        run_items(layout.comm[rank],
                  detail::square_task<T>{found.s[at].data() + found.first_owned[at], k,
                                         std::max(largest + k - span, least),
                                         inverse_->data(rank) + layout.first_owned(rank)},
                  layout.rows.owned(rank).size());
    }
    detail::share_owned(*inverse_);
}

template <class T>
void equilibration<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                             std::span<const reduction_into<T>> dots) const {
    fused(run, z = *pointwise(r), dots);
}

template <class T>
std::int64_t equilibration<T>::bytes() const {
    const layout& layout = *inverse_->layout();
    std::int64_t most = 0;
    for (const int rank : layout.comm.local()) most = std::max(most, layout.held(rank));
    return most * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
equilibration<T> equilibration<T>::square_root() const {
    return inverse_->layout()->comm.together([&] {
        std::vector<T> roots(static_cast<std::size_t>(inverse_->size()));
        inverse_->download(roots);
        for (T& v : roots) v = std::sqrt(v);
        equilibration result(inverse_->layout());
        result.inverse_->upload(roots);
        return result;
    });
}

#define KRYLITH_INSTANTIATE(T) template class equilibration<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

template <class T>
any_preconditioner<T> make_equilibration(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                         const method_parameters&) {
    return equilibration<T>(a, *matrix);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::equilibration = {
    .name = "equilibration",
    .aliases = {"equilibrate", "scaling", "ruiz"},
    .help = "scales rows and columns to one size",
    .parameters = std::span<const parameter_rule>(),
    .needs_spd = false,
    .needs_matrix = true,
    .pointwise = true,
    .scales_both_sides = true,
    .listed = true,
    .chosen_from = 0,
    .no_use_because = [](const matrix_statistics&) { return std::string(); },
    .kept_bytes = [](const preconditioner_size& s,
                     const method_parameters&) { return std::optional(s.value_bytes * s.rows); },
    .moved_bytes =
        [](const preconditioner_size& s, const method_parameters&) {
            return std::optional(static_cast<double>(s.value_bytes * s.rows));
        },
    .make = preconditioner_makers{make_equilibration<double>, make_equilibration<float>},
};

} // namespace krylith
