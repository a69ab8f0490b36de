#include <krylith/precond/scaling/diagonal_scaling.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/scaling/bound_step.hpp>
#include <krylith/precond/scaling/unit_diagonal.hpp>

namespace krylith::detail {

namespace {

/// The value of the diagonal of a row, which is wrong.
template <class T>
[[noreturn]] void refuse_row(const distributed_csr<T>& a, const scaling_subject& of, int rank,
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
        of.level == 0 ? "" : " of the matrix of level " + std::to_string(of.level);
    const std::int64_t place = a.row_owners().owned(rank).begin + row;
    const std::string number =
        std::to_string(of.rows != nullptr ? of.rows->row_of_caller(place) : place) +
        " (counted from 0)" + of_coarse;
    if (std::isfinite(diagonal) && !std::isfinite(sum))
        throw input_error(of.who + ": the absolute values of row " + number + " add up to " +
                          number_text(sum) + "; all entries and their sum must be finite");
    throw input_error(of.who + ": the diagonal entry of row " + number + " is " +
                      number_text(diagonal) +
                      "; it must be positive and finite, as that of a symmetric positive definite "
                      "matrix is" +
                      (of.level == 0 ? "; other matrices are for gmres or bicgstab with jacobi, or "
                                       "with amg of a block that has such a diagonal"
                                     : ", and that of its coarse matrices"));
}

/// Gershgorin's bound of S A S. That of D^-1 A, which costs nothing, has the same eigenvalues below
/// it, but depends on how A was scaled. Waits for the devices.
template <class T>
double scaled_bound(const distributed_csr<T>& a, const diagonal_scaling& by) {
    // The mean decides in which order lanes add up a row: that of all ranks is the same on any
    // number.
    const std::int64_t mean = (a.nonzeros() + a.rows() - 1) / std::max<std::int64_t>(a.rows(), 1);
    const auto bounds = by_rank(a.comm(), [&](int rank) {
        const device_csr<T>& block = a.block(rank);
        buffer<unsigned long long> bound(block.on(), 1, precond_item);
        bound.zero();
        visit_rows(*block.on(), block.rows(), mean,
                   scaled_bound_step<T>{block.view(), by.s[static_cast<std::size_t>(rank)].data(),
                                        a.columns_of(rank).first_owned(), bound.data()});
        return bound;
    });
    auto found = by_rank(a.comm(), [&](int rank) {
        return std::bit_cast<double>(bounds[static_cast<std::size_t>(rank)].download().front());
    });
    a.comm().all_gather(found);
    return std::max(0.0, std::ranges::max(found));
}

/// The entries of B of a rank.
template <class T, class W>
void scale_block(const distributed_csr<T>& a, const diagonal_scaling& by, int rank, W* values,
                 mirror_sums* mirrored) {
    const auto& device = a.comm().handle(rank);
    const local_columns& numbers = a.columns_of(rank);
    mirror_sum sum;
    if (mirrored != nullptr) {
        mirrored->of_ranks.resize(static_cast<std::size_t>(a.comm().ranks()));
        buffer<std::uint64_t>& mine = mirrored->of_ranks[static_cast<std::size_t>(rank)];
        mine = {device, 1, precond_item};
        mine.zero();
        sum = {numbers.numbers(), by.bound, mine.data()};
    }
    const double* const s = by.s[static_cast<std::size_t>(rank)].data();
    KRYLITH_ON(*device, scale_entries(*device, a.block(rank).view(), s, numbers.first_owned(),
                                      1 / by.bound, values, sum));
}

} // namespace

template <class T>
diagonal_scaling scaling_of(const distributed_csr<T>& a, const scaling_subject& of) {
    const communicator& comm = a.comm();
    diagonal_scaling result;
    result.s = by_rank(comm, [&](int rank) {
        const auto count = static_cast<std::size_t>(a.columns_of(rank).count());
        return buffer<double>(comm.handle(rank), count, precond_item);
    });
    const auto device_reports = by_rank(comm, [&](int rank) {
        buffer<scaling_report> report(comm.handle(rank), 1, precond_item);
        report.zero();
        const std::int64_t first = a.columns_of(rank).first_owned();
        KRYLITH_ON(comm[rank],
                   inverse_roots(comm[rank], a.block(rank).view(), first,
                                 result.s[static_cast<std::size_t>(rank)].data() + first,
                                 report.data()));
        return report;
    });
    auto reports = by_rank(comm, [&](int rank) {
        const auto report = device_reports[static_cast<std::size_t>(rank)].download().front();
        if (report.bad != 0) refuse_row(a, of, rank, static_cast<std::int64_t>(~report.bad));
        return report;
    });
    comm.all_gather(reports);
    double largest = 0;
    double inverse = 0;
    double bound = 0;
    for (const scaling_report& report : reports) {
        largest = std::max(largest, std::bit_cast<double>(report.largest));
        inverse = std::max(inverse, std::bit_cast<double>(report.inverse));
        bound = std::max(bound, std::bit_cast<double>(report.bound));
        result.any_positive = result.any_positive || report.any_positive != 0;
    }
    if (a.rows() != 0) {
        result.largest = largest;
        result.inverse = inverse;
        result.bound = bound;
    }
    exchange_of_ghosts(a).fetch(result.s);
    if (result.bound > near_bound) result.bound = std::min(result.bound, scaled_bound(a, result));
    return result;
}

template <class T, class W>
void scale(const distributed_csr<T>& a, const diagonal_scaling& by, distributed_csr<W>& b,
           mirror_sums* mirrored) {
    if (mirrored != nullptr) mirrored->comm = a.comm();
    for (const int rank : a.comm().local())
        scale_block(a, by, rank, b.block(rank).values(), mirrored);
}

template <class W, class T>
distributed_csr<W> scaled(const distributed_csr<T>& a, const diagonal_scaling& by,
                          mirror_sums* mirrored) {
    if (mirrored != nullptr) mirrored->comm = a.comm();
    return a.template with_values<W>(
        precond_item, [&](int rank, W* values) { scale_block(a, by, rank, values, mirrored); });
}

bool mirror_sums::differ(std::int64_t nonzeros) const {
    constexpr double tolerance = 1e-5;
    if (!comm) return false;
    auto sums = by_rank(*comm, [&](int rank) {
        return of_ranks[static_cast<std::size_t>(rank)].download().front();
    });
    comm->all_gather(sums);
    const auto all = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
    const double sum = std::ldexp(static_cast<double>(static_cast<std::int64_t>(all)), -30 - 13);
    return std::fabs(sum) > tolerance * std::sqrt(static_cast<double>(nonzeros));
}

template <class W>
void share_owned(vector<W>& v) {
    const layout& layout = *v.layout();
    if (layout.kind != coherence::replicated) return;
    const communicator& comm = layout.comm;
    std::vector<shared_items> items;
    for (int owner = 0; owner < comm.ranks(); ++owner)
        for (int user = 0; user < comm.ranks(); ++user) {
            const row_range rows = layout.rows.owned(owner);
            if (owner != user && rows.size() != 0)
                items.push_back({owner, user, rows.size(), rows.begin, rows.begin});
        }
    const auto arrays = by_rank(comm, [&](int rank) { return v.data(rank); });
    exchange(comm, std::move(items)).fetch(arrays);
}

template <class W>
int take_moderate(const diagonal_scaling& by, std::span<const std::int64_t> first_owned,
                  int columns, vector<W>& to) {
    const layout& layout = *to.layout();
    const int exponent = by.largest > 0 ? std::ilogb(by.largest) : 0;
    for (const int rank : layout.comm.local()) {
        const auto at = static_cast<std::size_t>(rank);
        run_items(layout.comm[rank],
                  round_task<W>{std::ldexp(1.0, -exponent), by.s[at].data() + first_owned[at],
                                to.data(rank) + layout.first_owned(rank), columns},
                  layout.rows.owned(rank).size() / columns * columns);
    }
    share_owned(to);
    return exponent;
}

template void scale(const distributed_csr<float>&, const diagonal_scaling&, distributed_csr<float>&,
                    mirror_sums*);
template distributed_csr<float> scaled(const distributed_csr<float>&, const diagonal_scaling&,
                                       mirror_sums*);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void scale(const distributed_csr<double>&, const diagonal_scaling&,                   \
                        distributed_csr<T>&, mirror_sums*);                                        \
    template distributed_csr<T> scaled(const distributed_csr<double>&, const diagonal_scaling&,    \
                                       mirror_sums*);                                              \
    template struct instances<scaling_of<T>, take_moderate<T>, share_owned<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
