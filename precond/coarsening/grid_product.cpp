#include <krylith/precond/coarsening/grid_product.hpp>

#include <cstdint>
#include <utility>

#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/grid_product_tasks.hpp>

namespace krylith::aggregation {

namespace {

template <class T>
void compute(const std::shared_ptr<device>& device, const grid_boxes& boxes, const device_csr<T>& r,
             const device_csr<T>& b, const device_csr<T>& p, const std::int64_t* offsets,
             std::int32_t* columns, T* values) {
    const std::int64_t points = boxes.grid.points();
    const buffer<T> rows(device, as_size(point_entries::count * points), "product of a grid");
    run_items(*device, point_rows_task<T>{boxes.grid, b.view(), p.view(), rows.data()}, points);
    run_items(*device, box_row_task<T>{boxes, r.view(), rows.data(), offsets, columns, values},
              boxes.shape().points());
}

} // namespace

template <class T>
device_csr<T> make_grid_product(const std::shared_ptr<device>& device, const grid_boxes& boxes,
                                const device_csr<T>& r, const device_csr<T>& b,
                                const device_csr<T>& p) {
    const grid_shape shape = boxes.shape();
    const std::int64_t rows = shape.points();
    buffer<std::int64_t> offsets(device, as_size(rows + 1), "offsets of a matrix");
    add_up_sizes(device, rows, coarse_row_size{shape}, offsets.data());
    std::int64_t entries = 0;
    device->download(&entries, offsets.data() + rows, sizeof entries);
    buffer<std::int32_t> columns(device, as_size(entries), "columns of a matrix");
    buffer<T> values(device, as_size(entries), "values of a matrix");
    compute(device, boxes, r, b, p, offsets.data(), columns.data(), values.data());
    device_csr<T> product(device, rows, std::move(offsets), std::move(columns), std::move(values));
    product.set_ascending(true);
    return product;
}

template <class T>
void refresh_grid_product(const std::shared_ptr<device>& device, const grid_boxes& boxes,
                          const device_csr<T>& r, const device_csr<T>& b, const device_csr<T>& p,
                          device_csr<T>& product) {
    compute(device, boxes, r, b, p, product.view().offsets, nullptr, product.values());
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template device_csr<T> make_grid_product(const std::shared_ptr<device>&, const grid_boxes&,    \
                                             const device_csr<T>&, const device_csr<T>&,           \
                                             const device_csr<T>&);                                \
    template void refresh_grid_product(const std::shared_ptr<device>&, const grid_boxes&,          \
                                       const device_csr<T>&, const device_csr<T>&,                 \
                                       const device_csr<T>&, device_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
