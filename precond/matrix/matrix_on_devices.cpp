#include <krylith/precond/matrix/matrix_on_devices.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/whole_matrix.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>
#include <krylith/precond/matrix/intake_steps.hpp>

namespace krylith::detail {

namespace {

template <class T>
distributed_csr<T> with_sorted_rows(distributed_csr<T> matrix) {
    if (matrix.rows_ascend()) return matrix;
    return sorted_rows<T>(matrix).apply(matrix);
}

/// The rows of a square matrix, of whose parts each driver has its own.
template <class T>
std::int64_t rows_of(const communicator& comm, const matrix_ref<T>& matrix) {
    if (matrix.parts().empty()) return matrix.rows();
    std::vector<std::int64_t> of_drivers(as_size(comm.ranks()));
    of_drivers[as_size(comm.first_local())] = matrix.rows();
    comm.all_gather(of_drivers);
    return std::accumulate(of_drivers.begin(), of_drivers.end(), std::int64_t{0});
}

} // namespace

void check_size(const std::string& who, const layout& layout, std::int64_t rows,
                std::int64_t columns) {
    if (rows != layout.size() || columns != layout.size())
        throw usage_error(who + ": a matrix of " + std::to_string(rows) + " x " +
                          std::to_string(columns) + " for an operator of " +
                          std::to_string(layout.size()) + " rows");
}

template <class T>
distributed_csr<T> on_devices(const layout& range, const layout& domain,
                              const csr_view<T>& matrix) {
    if (!range.order && !domain.order)
        return with_sorted_rows(distributed_csr<T>(range.comm, matrix, range.rows, domain.rows));
    (void)validate(matrix);
    const reordered_matrix<T> moved = reordered(matrix, range.order.get(), domain.order.get());
    return with_sorted_rows(
        distributed_csr<T>(range.comm, csr_view<T>(moved.matrix), range.rows, domain.rows));
}

template <class T>
distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                              const matrix_ref<T>& matrix, part_values values,
                              global_columns columns) {
    if (columns == global_columns::narrow)
        check_index_size(who + ": the number of rows", layout.size());
    const std::int64_t rows = rows_of(layout.comm, matrix);
    check_size(who, layout, rows, matrix.parts().empty() ? matrix.columns() : rows);
    if (matrix.on_host() != nullptr) return on_devices(layout, layout, *matrix.on_host());
    if (layout.order)
        throw usage_error(who + ": the operator has its rows in an order of its own, in which "
                                "rows on the devices are not; give the matrix in host memory");
    const distributed_csr<T>* const whole = matrix.over_group();
    if (whole != nullptr && whole->comm() != layout.comm)
        throw usage_error(who + ": the matrix lies on another group of devices than the operator");
    distributed_csr<T> result =
        whole != nullptr ? whole->copy(values)
                         : distributed_csr<T>(layout.comm, matrix.parts(), layout.rows, values);
    if (result.row_owners() != layout.rows || result.column_owners() != layout.rows)
        throw usage_error(who + ": the matrix has other rows on the devices than the operator");
    return with_sorted_rows(std::move(result));
}

template <class T>
int moderating_exponent(double largest, double smallest) {
    constexpr int usual = sizeof(T) == 8 ? 130 : 40;
    constexpr int least = std::numeric_limits<T>::min_exponent + std::numeric_limits<T>::digits;
    constexpr int most = sizeof(T) == 8 ? 1000 : 120; // 2^most and its inverse are normal numbers
    if (!(largest > 0) || std::abs(std::ilogb(largest)) <= usual) return 0;
    const int exponent = std::clamp(-std::ilogb(largest), -most, most);
    return exponent > 0 ? exponent : std::max(exponent, std::min(0, least - std::ilogb(smallest)));
}

template <class T>
distributed_csr<T> with_moderate_values(distributed_csr<T> matrix) {
    const communicator& comm = matrix.comm();
    const auto found = by_rank(comm, [&](int rank) {
        const device_csr_view<T> view = matrix.block(rank).view();
        buffer<magnitude_bits> bits(comm.handle(rank), as_size(row_counters), matrix_item);
        bits.zero();
        visit_rows(comm[rank], view.rows, aggregation::mean_entries(matrix, rank),
                   magnitudes_of_rows_step<T>{view.offsets, view.values, bits.data()});
        return bits;
    });
    auto of_ranks = by_rank(comm, [&](int rank) {
        magnitude_bits all;
        for (const magnitude_bits& one : found[as_size(rank)].download()) all.take(one);
        return all;
    });
    comm.all_gather(of_ranks);
    magnitude_bits all;
    for (const magnitude_bits& one : of_ranks) all.take(one);
    if (all.largest == 0) return matrix;
    const int exponent = moderating_exponent<T>(std::bit_cast<double>(all.largest),
                                                std::bit_cast<double>(~all.smallest));
    if (exponent == 0) return matrix;
    for (const int rank : comm.local())
        if (device_csr<T>& block = matrix.block(rank); block.nonzeros() != 0)
            run_items(comm[rank], scale_task<T>{std::ldexp(1.0, exponent), block.values()},
                      block.nonzeros());
    return matrix;
}

template <class T>
distributed_csr<T> alone_on(const communicator& comm, int rank, device_csr<T> rows) {
    const row_partition owners{{0, rows.rows()}};
    std::vector<local_columns> numbers;
    numbers.emplace_back(comm.handle(rank), owners.owned(0), std::vector<std::int64_t>{});
    std::vector<device_csr<T>> blocks;
    blocks.push_back(std::move(rows));
    return {comm.alone(rank), owners, owners, std::move(blocks), std::move(numbers)};
}

template <class T>
std::vector<distributed_csr<T>> whole_on_each(distributed_csr<T> matrix) {
    const communicator comm = matrix.comm();
    std::vector<distributed_csr<T>> result(as_size(comm.ranks()));
    if (comm.ranks() == 1) {
        result.front() = std::move(matrix);
        return result;
    }
    for (int to = 0; to < comm.ranks(); ++to) {
        device_csr<T> whole = whole_on(to, matrix);
        if (comm.is_local(to)) result[as_size(to)] = alone_on(comm, to, std::move(whole));
    }
    comm.synchronize_all(); // before the matrix is freed
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template distributed_csr<T> on_devices(const std::string&, const layout&,                      \
                                           const matrix_ref<T>&, part_values, global_columns);     \
    template distributed_csr<T> on_devices(const layout&, const layout&, const csr_view<T>&);      \
    template struct instances<with_moderate_values<T>, moderating_exponent<T>, alone_on<T>,        \
                              whole_on_each<T>>;

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
