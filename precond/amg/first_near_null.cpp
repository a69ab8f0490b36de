#include <krylith/precond/amg/first_near_null.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/precond/amg/local_vectors.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/power_steps.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/scaling/unit_diagonal.hpp>

namespace krylith::detail {

namespace {

constexpr int relaxation_steps = 12;

/// The sum over rows of |sum_j b_ij v_j| / sum_j |b_ij v_j|, in units of 2^-16.
template <class W>
std::uint64_t defect_of(const distributed_csr<W>& b, const std::vector<buffer<W>>& v) {
    const communicator& comm = b.comm();
    const std::vector<buffer<W>> local = by_local_columns(b, v);
    const aggregation::rank_numbers<std::uint64_t> sums(comm, 1, precond_item);
    for (const int rank : comm.local()) {
        const auto r = static_cast<std::size_t>(rank);
        KRYLITH_ON(comm[rank],
                   null_defect(comm[rank], b.block(rank).view(), local[r].data(), sums.of(rank)));
    }
    std::uint64_t all = 0;
    for (const auto& sum : sums.of_all()) all += sum.front();
    return all;
}

/// Whether a vector of this defect is as good as one can be: the ratio of ones is 1 / 11 in the
/// rows beside a boundary of a grid, and 0 in others.
bool is_small(std::uint64_t defect, std::int64_t rows) {
    return static_cast<double>(defect) <= 0.05 * 65536 * static_cast<double>(rows);
}

/// Returns v after so many steps of v -= B v, B having its eigenvalues in [0, 1]: what is far from
/// the null space is damped. Each is a product.
template <class W>
std::vector<buffer<W>> relaxed(const distributed_csr<W>& b, const std::vector<buffer<W>>& v,
                               int steps) {
    const communicator& comm = b.comm();
    const exchange ghosts = exchange_of_ghosts(b);
    const std::vector<buffer<W>> now = by_local_columns(b, v);
    const auto product = by_rank(comm, [&](int rank) {
        return buffer<W>(comm.handle(rank), static_cast<std::size_t>(b.columns_of(rank).count()),
                         precond_item);
    });
    const std::vector<W*> arrays = pointers_of(now);
    for (int step = 0; step < steps; ++step) {
        if (step != 0) ghosts.fetch(arrays);
        for (const int rank : comm.local()) {
            W* const y = product[static_cast<std::size_t>(rank)].data();
            W* const x = arrays[static_cast<std::size_t>(rank)];
            const std::int64_t first = b.columns_of(rank).first_owned();
            const device_csr_view<W> rows = b.block(rank).view();
            KRYLITH_ON(comm[rank], multiply_rows(comm[rank], rows, first, x, y));
            run_items(comm[rank], subtract_task<W>{y + first, x + first}, rows.rows);
        }
    }
    return by_rank(comm, [&](int rank) {
        const auto rows = static_cast<std::size_t>(b.block(rank).rows());
        buffer<W> owned(comm.handle(rank), rows, precond_item);
        if (rows != 0)
            comm[rank].copy(owned.data(),
                            arrays[static_cast<std::size_t>(rank)] +
                                b.columns_of(rank).first_owned(),
                            rows * sizeof(W));
        return owned;
    });
}

/// The sum of the squares of all entries, added up in the order of rows, whatever the devices.
template <class W>
double squares_of(const communicator& comm, const std::vector<buffer<W>>& x) {
    std::vector<double> until(x.size() + 1, 0.0); // each rank
    for (std::size_t r = 0; r < x.size(); ++r) {
        double sum = until[r];
        for (const W entry : x[r].download())
            sum += static_cast<double>(entry) * static_cast<double>(entry);
        until[r + 1] = sum;
        comm.all_gather(std::span(until).subspan(1)); // the next rank goes on
    }
    return until.back();
}

} // namespace

template <class W>
near_null_vector<W> near_null_of(const distributed_csr<W>& b, const diagonal_scaling& by) {
    const communicator& comm = b.comm();
    near_null_vector<W> best{{}, by.largest * by.inverse};
    const auto rows_of = [&](int rank) {
        return buffer<W>(comm.handle(rank),
                         static_cast<std::size_t>(b.row_owners().owned(rank).size()), precond_item);
    };
    std::vector<buffer<W>>& inverse = best.entries;
    inverse = by_rank(comm, rows_of);
    auto ones = by_rank(comm, rows_of);
    for (const int rank : comm.local()) {
        const auto at = static_cast<std::size_t>(rank);
        const std::int64_t rows = b.row_owners().owned(rank).size();
        const double* const s = by.owned(b, rank);
        W* const one = ones[at].data();
        run_items(comm[rank], divide_task<W>{1 / by.inverse, nullptr, s, inverse[at].data()}, rows);
        run_items(comm[rank], round_task<W>{1, s, one}, rows);
        run_items(comm[rank], divide_task<W>{1, one, s, one}, rows); // 1, but for a rounding
    }
    std::uint64_t defect = defect_of(b, inverse);
    const bool constant = best.largest_quotient <= 1 + 1e-6; // one is as good as the other
    if (const std::uint64_t other = constant ? defect : defect_of(b, ones); 2 * other < defect) {
        defect = other;
        best = {std::move(ones), 1};
    }
    if (is_small(defect, b.rows())) return best;
    std::vector<buffer<W>> better = relaxed(b, best.entries, relaxation_steps);
    if (2 * defect_of(b, better) < defect)
        best = {std::move(better), std::numeric_limits<double>::infinity()};
    return best;
}

template <class W>
bool relaxes_to(const distributed_csr<W>& b, const relaxation_limits& most) {
    const communicator& comm = b.comm();
    auto x = by_rank(comm, [&](int rank) {
        const row_range own = b.row_owners().owned(rank);
        buffer<W> signs(comm.handle(rank), static_cast<std::size_t>(own.size()), precond_item);
        run_items(comm[rank], sign_task<W>{own.begin, signs.data()}, own.size());
        return signs;
    });
    x = relaxed(b, x, relaxation_steps);
    const aggregation::rank_numbers<std::uint64_t> bits(comm, 1, precond_item);
    for (const int rank : comm.local()) {
        const W* const own = x[static_cast<std::size_t>(rank)].data();
        KRYLITH_ON(comm[rank], find_largest(comm[rank], b.block(rank).rows(), own, bits.of(rank)));
    }
    double largest = 0;
    for (const auto& of_rank : bits.of_all())
        largest = std::max(largest, std::bit_cast<double>(of_rank.front()));
    if (largest > most.largest) return false;
    if (largest * largest <= most.mean) return true;
    return squares_of(comm, x) <= most.mean * static_cast<double>(b.rows());
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool relaxes_to(const distributed_csr<T>&, const relaxation_limits&);                 \
    template near_null_vector<T> near_null_of(const distributed_csr<T>&, const diagonal_scaling&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
