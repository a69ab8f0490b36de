#include <krylith/precond/matrix/matrix_pattern.hpp>

#include <numeric>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/colouring/colour_steps.hpp>
#include <krylith/precond/matrix/intake_steps.hpp>

namespace krylith::detail {

void matrix_pattern::expect(const std::string& who, const matrix_pattern& given) const {
    if (given.rows != rows || given.entries != entries)
        throw usage_error(who + ": update() by a matrix of " + std::to_string(given.rows) +
                          " rows and " + std::to_string(given.entries) + " entries, must be " +
                          std::to_string(rows) + " and " + std::to_string(entries));
    if (given.hash != hash)
        throw usage_error(who + ": update() by a matrix whose " + std::to_string(entries) +
                          " entries are at other places than those that it was made of; allowed "
                          "are new values of the same pattern, and for another a new " +
                          who);
}

template <class T>
matrix_pattern pattern_of(const distributed_csr<T>& a) {
    matrix_pattern found{a.rows(), a.nonzeros(), 0};
    const auto sums = by_rank(a.comm(), [&](int rank) {
        const auto& device = a.comm().handle(rank);
        const device_csr_view<T> view = a.block(rank).view();
        buffer<unsigned long long> mine(device, as_size(row_counters), "preconditioner");
        mine.zero();
        visit_rows(*device, view.rows, aggregation::mean_entries(a, rank),
                   hash_entries_step{aggregation::rows_of(a, rank),
                                     a.row_owners().owned(rank).begin, mine.data()});
        return mine;
    });
    auto of_ranks = by_rank(a.comm(), [&](int rank) {
        const std::vector<unsigned long long> all = sums[as_size(rank)].download();
        return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    });
    a.comm().all_gather(of_ranks);
    found.hash = std::accumulate(of_ranks.begin(), of_ranks.end(), found.hash);
    return found;
}

template <class T>
matrix_pattern pattern_of(const csr_view<T>& a) {
    matrix_pattern found{a.rows, static_cast<std::int64_t>(a.column_indices.size()), 0};
    std::uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const auto i = static_cast<std::size_t>(row);
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
            sum += colouring::entry_hash(row, a.column_indices[k]);
    }
    found.hash = sum;
    return found;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template matrix_pattern pattern_of(const distributed_csr<T>&);                                 \
    template matrix_pattern pattern_of(const csr_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
