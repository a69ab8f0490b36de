#include <krylith/precond/coarsening/grid_product.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/settled_on_failure.hpp>
#include <krylith/device/threads/each_rank.hpp>
#include <krylith/distributed/products/column_exchange.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/grid_box_rows.hpp>
#include <krylith/precond/coarsening/grid_point_rows.hpp>

namespace krylith::aggregation {

namespace {

/// So many entries for each local column of a matrix, on all ranks.
template <class T>
class column_entries {
public:
    column_entries(const distributed_csr<T>& a, int count) : a_(a), count_(count) {
        for (int rank = 0; rank < a.group().size(); ++rank)
            arrays_.emplace_back(a.group().handle(rank), as_size(count * columns(rank).count()),
                                 "product of a grid");
    }

    [[nodiscard]] entry_arrays<const T> all(int rank) const {
        return {arrays_[as_size(rank)].data(), columns(rank).count()};
    }
    /// From the first owned column on.
    [[nodiscard]] entry_arrays<T> owned(int rank) {
        return {arrays_[as_size(rank)].data() + columns(rank).first_owned(), columns(rank).count()};
    }
    /// Brings the entries of ghosts.
    void fill_ghosts() {
        const column_exchange exchange(a_.group(), a_.all_columns());
        for (int entry = 0; entry < count_; ++entry) {
            std::vector<T*> arrays;
            for (int rank = 0; rank < a_.group().size(); ++rank)
                arrays.push_back(arrays_[as_size(rank)].data() + entry * columns(rank).count());
            if (entry + 1 < count_)
                exchange.fill_in_turn(std::span<T* const>(arrays));
            else
                exchange.fill(std::span<T* const>(arrays)); // orders those before it, too
        }
    }

private:
    [[nodiscard]] const local_columns& columns(int rank) const { return a_.columns_of(rank); }

    const distributed_csr<T>& a_;
    int count_;
    std::vector<buffer<T>> arrays_;
};

/// Enqueues the rows of B P by the columns of R.
template <class T>
column_entries<T> point_rows(const grid_boxes& boxes, const distributed_csr<T>& r,
                             const distributed_csr<T>& b, const distributed_csr<T>& p) {
    column_entries<T> of_p(b, p_entries::count);
    column_entries<T> rows(r, point_entries::count);
    const settled_on_failure settled(b.group()); // before arrays are freed
    const auto run = [&](const auto& task_of) {
        for (int rank = 0; rank < b.group().size(); ++rank)
            run_items(b.group()[rank],
                      task_of(rank, owned_points{boxes.grid, b.row_owners().owned(rank).begin}),
                      b.block(rank).rows());
    };
    run([&](int rank, owned_points points) {
        return p_entries_task<T>{points, p.block(rank).view(), of_p.owned(rank)};
    });
    of_p.fill_ghosts();
    run([&](int rank, owned_points points) {
        return point_rows_task<T>{points, b.block(rank).view(), of_p.all(rank), rows.owned(rank)};
    });
    rows.fill_ghosts();
    return rows;
}

} // namespace

template <class T>
distributed_csr<T> make_grid_product(const grid_boxes& boxes, const distributed_csr<T>& r,
                                     const distributed_csr<T>& b, const distributed_csr<T>& p) {
    const device_group& group = b.group();
    const row_partition& owners = r.row_owners();
    const column_entries<T> rows = point_rows(boxes, r, b, p);
    const settled_on_failure settled(group); // before arrays are freed
    std::vector<device_csr<T>> blocks(as_size(group.size()));
    std::vector<local_columns> columns_of(as_size(group.size()));
    on_each_rank(group, [&](int rank) {
        const auto& device = group.handle(rank);
        const row_range own = owners.owned(rank);
        buffer<std::int64_t> offsets(device, as_size(own.size() + 1), "offsets of a matrix");
        add_up_sizes(device, own.size(), coarse_row_size{boxes.shape(), own.begin}, offsets.data());
        std::int64_t entries = 0;
        device->download(&entries, offsets.data() + own.size(), sizeof entries);
        buffer<std::int32_t> columns(device, as_size(entries), "columns of a matrix");
        buffer<T> values(device, as_size(entries), "values of a matrix");
        run_items(*device,
                  box_row_task<T>{boxes, own.begin, r.block(rank).view(), rows.all(rank),
                                  offsets.data(), columns.data(), values.data()},
                  own.size());
        columns_of[as_size(rank)] =
            group.size() == 1 ? p.columns_of(rank)
                              : number_columns(device, own, owners.rows(), columns).value();
        blocks[as_size(rank)] = {device, columns_of[as_size(rank)].count(), std::move(offsets),
                                 std::move(columns), std::move(values)};
        blocks[as_size(rank)].set_ascending(true);
    });
    return {group, owners, owners, std::move(blocks), std::move(columns_of)};
}

template <class T>
void refresh_grid_product(const grid_boxes& boxes, const distributed_csr<T>& r,
                          const distributed_csr<T>& b, const distributed_csr<T>& p,
                          distributed_csr<T>& product) {
    const column_entries<T> rows = point_rows(boxes, r, b, p);
    for (int rank = 0; rank < b.group().size(); ++rank) {
        const row_range own = r.row_owners().owned(rank);
        run_items(b.group()[rank],
                  box_row_task<T>{boxes, own.begin, r.block(rank).view(), rows.all(rank),
                                  product.block(rank).view().offsets, nullptr,
                                  product.block(rank).values()},
                  own.size());
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template distributed_csr<T> make_grid_product(const grid_boxes&, const distributed_csr<T>&,    \
                                                  const distributed_csr<T>&,                       \
                                                  const distributed_csr<T>&);                      \
    template void refresh_grid_product(const grid_boxes&, const distributed_csr<T>&,               \
                                       const distributed_csr<T>&, const distributed_csr<T>&,       \
                                       distributed_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
