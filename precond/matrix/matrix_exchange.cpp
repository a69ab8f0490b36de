#include <krylith/precond/matrix/matrix_exchange.hpp>

namespace krylith::detail {

template <class T>
std::shared_ptr<const put_schedule<T>> exchange_of(const layout_handle& layout,
                                                   std::span<const local_columns> columns) {
    const index_map map(layout->comm, layout->rows, {columns.begin(), columns.end()});
    if (!map.any_ghosts()) return nullptr;
    return std::make_shared<const put_schedule<T>>(layout, map);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::shared_ptr<const put_schedule<T>> exchange_of(const layout_handle&,              \
                                                                std::span<const local_columns>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
