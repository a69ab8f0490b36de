#include <krylith/precond/coarsening/make_factors.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/near_null_steps.hpp>

namespace krylith::aggregation {

namespace {

/// What is left of the square of a vector, relative to it, when it counts as dependent: vectors in
/// float are known to 6e-8, and rotations of an aggregate of 3 nodes in a grid of 5000 stay above.
constexpr double dependent = 1e-9;

/// Sums of at most so many products of magnitudes up to 1 fit into 62 bits.
double unit_of(std::int64_t rows) {
    const int bits = std::bit_width(static_cast<std::uint64_t>(rows));
    return std::ldexp(1.0, std::max(bits - 61, -50));
}

/// The arrays of all ranks, for k vectors.
struct factor_arrays {
    std::vector<aggregate_array<wide>> largest;
    std::vector<aggregate_array<wide>> products;
    std::vector<aggregate_array<double>> factors;

    /// window(rank) says of which aggregates.
    template <class Window>
    factor_arrays(const communicator& comm, const Window& window, std::int64_t k)
        : largest(by_rank(comm,
                          [&](int rank) {
                              aggregate_array<wide> zeros(comm.handle(rank), window(rank), k,
                                                          memory_item);
                              zeros.zero();
                              return zeros;
                          })),
          products(by_rank(comm,
                           [&](int rank) {
                               return aggregate_array<wide>(
                                   comm.handle(rank), window(rank),
                                   aggregate_factors::products_of(static_cast<int>(k)),
                                   memory_item);
                           })),
          factors(by_rank(comm, [&](int rank) {
              return aggregate_array<double>(comm.handle(rank), window(rank), k * k, memory_item);
          })) {}

    [[nodiscard]] aggregate_factors of(std::size_t rank, int k, double unit) {
        return {k,
                unit,
                std::max(dependent, 256 * unit),
                largest[rank].data(),
                products[rank].data(),
                factors[rank].data()};
    }
};

} // namespace

template <class T>
std::vector<buffer<T>> make_factors(const distributed_csr<T>& a, const distributed_csr<T>& nodes,
                                    rank_parts<T>& parts, const row_partition& aggregates,
                                    const aggregation_options& options,
                                    std::span<const T* const> near_null) {
    const communicator& comm = a.comm();
    const int k = options.vectors;
    const int block = options.block_size;
    const double unit = unit_of(a.rows());
    factor_arrays arrays(
        comm,
        [&](int rank) { return window_of(aggregates.owned(rank), parts[as_size(rank)].used); }, k);
    const auto of = by_rank(comm, [&](int rank) { return arrays.of(as_size(rank), k, unit); });
    auto tentative = by_rank(comm, [&](int rank) {
        return buffer<T>(comm.handle(rank), as_size(a.columns_of(rank).count()) * as_size(k),
                         memory_item);
    });
    for (const int rank : comm.local())
        parts[as_size(rank)].make_coarse(comm.handle(rank), aggregates.owned(rank),
                                         std::int64_t{k} * k);
    const auto aggregate_of = [&](std::size_t r) {
        return parts[r].aggregate.data() + nodes.columns_of(static_cast<int>(r)).first_owned();
    };
    const auto all_largest = pointers_of(arrays.largest);
    const auto all_products = pointers_of(arrays.products);
    const auto all_factors = pointers_of(arrays.factors);

    for (const int rank : comm.local()) {
        const std::size_t r = as_size(rank);
        visit_rows(comm[rank], nodes.block(rank).rows(), 1,
                   magnitudes_step<T>{{}, aggregate_of(r), near_null[r], block, of[r]});
    }
    const exchange of_aggregates = exchange_of_aggregates(comm, aggregates, parts);
    of_aggregates.join<join_largest_step>(all_largest, k);
    of_aggregates.fetch(all_largest, k);

    for (const bool factored : {false, true}) {
        for (const int rank : comm.local()) {
            const std::size_t r = as_size(rank);
            arrays.products[r].zero();
            visit_rows(comm[rank], nodes.block(rank).rows(), 1,
                       products_step<T>{{}, aggregate_of(r), near_null[r], block, factored, of[r]});
        }
        of_aggregates.join<join_sum_step>(all_products, aggregate_factors::products_of(k));
        for (const int rank : comm.local())
            visit_rows(comm[rank], aggregates.owned(rank).size(), 1,
                       factor_step{{}, factored, of[as_size(rank)], aggregates.owned(rank).begin});
        of_aggregates.fetch(all_factors, std::int64_t{k} * k);
    }
    for (const int rank : comm.local()) {
        const std::size_t r = as_size(rank);
        const row_range own = aggregates.owned(rank);
        visit_rows(comm[rank], own.size(), 1,
                   coarse_vectors_step<T>{{}, own.begin, of[r], parts[r].coarse.data()});
        visit_rows(
            comm[rank], a.block(rank).rows(), 1,
            tentative_rows_step<T>{{},
                                   aggregate_of(r),
                                   near_null[r],
                                   block,
                                   of[r],
                                   tentative[r].data() + a.columns_of(rank).first_owned() * k});
    }
    return tentative;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<buffer<T>> make_factors(                                                  \
        const distributed_csr<T>&, const distributed_csr<T>&, rank_parts<T>&,                      \
        const row_partition&, const aggregation_options&, std::span<const T* const>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
