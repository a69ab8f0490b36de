#include <krylith/precond/matrix/matrix_exchange.hpp>

#include <utility>
#include <vector>

#include <krylith/partition/halo/halo_plan.hpp>

namespace krylith::detail {

template <class T>
std::shared_ptr<const put_schedule<T>> exchange_of(const layout_handle& layout,
                                                   std::span<const local_columns> columns) {
    halo_plan plan{layout->rows, layout->rows, std::vector<local_halo>(columns.size())};
    bool any = false;
    for (std::size_t rank = 0; rank < columns.size(); ++rank) {
        local_halo& local = plan.local[rank];
        const auto& ghosts = columns[rank].ghosts();
        local.ghosts.assign(ghosts.begin(), ghosts.end());
        local.touches_ghost.assign(static_cast<std::size_t>(columns[rank].owned().size()), 1);
        any = any || !ghosts.empty();
    }
    if (!any) return nullptr;
    match_ghosts(plan);
    return std::make_shared<const put_schedule<T>>(layout, plan);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::shared_ptr<const put_schedule<T>> exchange_of(const layout_handle&,              \
                                                                std::span<const local_columns>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
