#include <krylith/precond/amg/scaled_level.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/distributed/products/column_exchange.hpp>
#include <krylith/precond/amg/unit_diagonal.hpp>
#include <krylith/precond/coarsening/power_steps.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

/// Fills the ghosts of S by the columns of a matrix.
template <class T>
void fill_ghosts(const distributed_csr<T>& a, const std::vector<buffer<double>>& s) {
    if (a.group().size() == 1) return;
    std::vector<double*> arrays;
    for (const auto& own : s) arrays.push_back(own.data());
    const column_exchange exchange(a.group(), a.all_columns());
    exchange.fill(std::span<double* const>(arrays));
}

/// The value of the diagonal of a row, which is wrong.
template <class T>
[[noreturn]] void refuse_row(const distributed_csr<T>& a, std::size_t level, int rank,
                             std::int64_t row) {
    const device_csr<T>& block = a.block(rank);
    std::int64_t range[2];
    device& on = *block.on();
    on.download(range, block.view().offsets + row, sizeof(range));
    const auto count = static_cast<std::size_t>(range[1] - range[0]);
    std::vector<std::int32_t> columns(count);
    std::vector<T> values(count);
    if (count != 0) {
        on.download(columns.data(), block.view().indices + range[0], count * sizeof(std::int32_t));
        on.download(values.data(), block.view().values + range[0], count * sizeof(T));
    }
    double diagonal = 0;
    double sum = 0;
    for (const T value : values) sum += std::fabs(static_cast<double>(value));
    for (std::size_t k = 0; k < count; ++k)
        if (columns[k] == a.columns_of(rank).first_owned() + row)
            diagonal += static_cast<double>(values[k]);
    const std::string of_coarse =
        level == 0 ? "" : " of the matrix of level " + std::to_string(level);
    const std::string number =
        std::to_string(a.row_owners().owned(rank).begin + row) + " (counted from 0)" + of_coarse;
    if (std::isfinite(diagonal) && !std::isfinite(sum))
        throw input_error("amg: the absolute values of row " + number + " add up to " +
                          number_text(sum) + "; all entries and their sum must be finite");
    throw input_error("amg: the diagonal entry of row " + number + " is " + number_text(diagonal) +
                      "; it must be positive and finite, as that of a symmetric positive definite "
                      "matrix is" +
                      (level == 0 ? "; other matrices are for gmres or bicgstab with jacobi, or "
                                    "with amg of a block that has such a diagonal"
                                  : ", and that of its coarse matrices"));
}

/// The entries of B of a rank.
template <class T, class W>
void scale_block(const distributed_csr<T>& a, const level_scaling& by, int rank, W* values,
                 mirror_sums* mirrored) {
    const auto& device = a.group().handle(rank);
    const local_columns& numbers = a.columns_of(rank);
    mirror_sum sum;
    if (mirrored != nullptr) {
        mirrored->of_ranks.emplace_back(device, 1, precond_item);
        mirrored->of_ranks.back().zero();
        sum = {numbers.numbers(), by.bound, mirrored->of_ranks.back().data()};
    }
    const double* const s = by.s[static_cast<std::size_t>(rank)].data();
    KRYLITH_ON(*device, scale_entries(*device, a.block(rank).view(), s, numbers.first_owned(),
                                      1 / by.bound, values, sum));
}

/// The matrix with values of W, which fill(rank, values) enqueues.
template <class W, class T, class Fill>
distributed_csr<W> with_values(distributed_csr<T> a, const Fill& fill) {
    const device_group& group = a.group();
    std::vector<device_csr<W>> blocks;
    std::vector<local_columns> columns;
    for (int rank = 0; rank < group.size(); ++rank) {
        device_csr<T>& from = a.block(rank);
        const local_columns& numbers = a.columns_of(rank);
        buffer<W> values(group.handle(rank), static_cast<std::size_t>(from.nonzeros()),
                         precond_item);
        fill(a, rank, values.data());
        blocks.push_back(std::move(from).with_values(std::move(values)));
        columns.push_back(numbers);
    }
    return {group, a.row_owners(), a.column_owners(), std::move(blocks), std::move(columns)};
}

} // namespace

template <class T>
level_scaling scaling_of(const distributed_csr<T>& a, std::size_t level) {
    const device_group& group = a.group();
    level_scaling result;
    std::vector<buffer<scaling_report>> reports;
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto count = static_cast<std::size_t>(a.columns_of(rank).count());
        result.s.emplace_back(group.handle(rank), count, precond_item);
        reports.emplace_back(group.handle(rank), 1, precond_item);
        reports.back().zero();
        const std::int64_t first = a.columns_of(rank).first_owned();
        KRYLITH_ON(group[rank],
                   inverse_roots(group[rank], a.block(rank).view(), first,
                                 result.s.back().data() + first, reports.back().data()));
    }
    double largest = 0;
    double inverse = 0;
    double bound = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto report = reports[static_cast<std::size_t>(rank)].download().front();
        if (report.bad != 0) refuse_row(a, level, rank, static_cast<std::int64_t>(~report.bad));
        largest = std::max(largest, std::bit_cast<double>(report.largest));
        inverse = std::max(inverse, std::bit_cast<double>(report.inverse));
        bound = std::max(bound, std::bit_cast<double>(report.bound));
    }
    if (a.rows() != 0) {
        result.largest = largest;
        result.inverse = inverse;
        result.bound = bound;
    }
    fill_ghosts(a, result.s);
    return result;
}

template <class T, class W>
void scale(const distributed_csr<T>& a, const level_scaling& by, distributed_csr<W>& b,
           mirror_sums* mirrored) {
    for (int rank = 0; rank < a.group().size(); ++rank)
        scale_block(a, by, rank, b.block(rank).values(), mirrored);
}

template <class W>
void sharpen(distributed_csr<W>& b, level_scaling& by, double least_bound) {
    constexpr int steps = 12;
    constexpr double spare = 1.1;
    by.sharp = true;
    const double estimate = std::max(spare * power_estimate(b, steps), least_bound / by.bound);
    if (!(estimate > 0 && estimate < 1)) return;
    for (int rank = 0; rank < b.group().size(); ++rank)
        run_items(b.group()[rank], scale_task<W>{1 / estimate, b.block(rank).values()},
                  b.block(rank).nonzeros());
    by.bound *= estimate;
}

template <class W>
level_scaling scale_coarse(distributed_csr<W>& a, std::size_t level, double least_bound) {
    level_scaling by = scaling_of(a, level);
    scale(a, by, a);
    sharpen(a, by, least_bound);
    return by;
}

bool mirror_sums::differ(std::int64_t nonzeros) const {
    constexpr double tolerance = 1e-5;
    std::uint64_t all = 0;
    for (const auto& sum : of_ranks) all += sum.download().front();
    const double sum = std::ldexp(static_cast<double>(static_cast<std::int64_t>(all)), -30 - 13);
    return std::fabs(sum) > tolerance * std::sqrt(static_cast<double>(nonzeros));
}

template <class W, class T>
distributed_csr<W> scaled(distributed_csr<T> a, const level_scaling& by, mirror_sums* mirrored) {
    return with_values<W>(std::move(a), [&](const distributed_csr<T>& from, int rank, W* values) {
        scale_block(from, by, rank, values, mirrored);
    });
}

template <class W, class T>
distributed_csr<W> rounded(distributed_csr<T> a) {
    if constexpr (std::is_same_v<T, W>)
        return a;
    else
        return with_values<W>(std::move(a), [](const distributed_csr<T>& from, int rank,
                                               W* values) {
            run_items(from.group()[rank], round_task<W>{1, from.block(rank).view().values, values},
                      from.block(rank).nonzeros());
        });
}

template <class W>
void scale_transfers(double rho, std::span<const double* const> s, distributed_csr<W>& prolongation,
                     distributed_csr<W>& restriction) {
    const device_group& group = prolongation.group();
    std::vector<buffer<double>> columns; // S by local columns of P
    std::vector<double*> arrays;
    for (int rank = 0; rank < group.size(); ++rank) {
        const local_columns& local = prolongation.columns_of(rank);
        const double* const own = s[static_cast<std::size_t>(rank)];
        columns.emplace_back(group.handle(rank), static_cast<std::size_t>(local.count()),
                             precond_item);
        arrays.push_back(columns.back().data());
        const auto owned = static_cast<std::size_t>(local.owned().size());
        if (owned != 0)
            group[rank].copy(arrays.back() + local.first_owned(), own, owned * sizeof(double));
        device_csr<W>& r = restriction.block(rank);
        KRYLITH_ON(group[rank], scale_rows(group[rank], r.view(), own, 1 / rho, r.values()));
    }
    fill_ghosts(prolongation, columns);
    for (int rank = 0; rank < group.size(); ++rank) {
        device_csr<W>& p = prolongation.block(rank);
        run_items(group[rank],
                  scale_column_task<W>{p.view().indices, arrays[static_cast<std::size_t>(rank)],
                                       p.values()},
                  p.nonzeros());
    }
}

template void scale(const distributed_csr<float>&, const level_scaling&, distributed_csr<float>&,
                    mirror_sums*);
template distributed_csr<float> scaled(distributed_csr<float>, const level_scaling&, mirror_sums*);
template distributed_csr<float> rounded(distributed_csr<float>);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void scale(const distributed_csr<double>&, const level_scaling&, distributed_csr<T>&, \
                        mirror_sums*);                                                             \
    template distributed_csr<T> scaled(distributed_csr<double>, const level_scaling&,              \
                                       mirror_sums*);                                              \
    template distributed_csr<T> rounded(distributed_csr<double>);                                  \
    template struct instances<scaling_of<T>, sharpen<T>, scale_coarse<T>, scale_transfers<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
