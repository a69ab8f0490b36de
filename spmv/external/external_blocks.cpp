#include <krylith/spmv/external/external_blocks.hpp>

#include <utility>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/external/external_matrix.hpp>

namespace krylith {

template <class T>
block_maker<T> external_blocks(product_function<T> function, product_kind kind) {
    return [function = std::move(function), kind](const layout& layout, int rank,
                                                  const held_entries& x) {
        const external_product<T> product{function, kind, rank, layout.rows.owned(rank), x};
        const auto& d = layout.comm.handle(rank);
        return KRYLITH_ON(*d, make_external(d, product));
    };
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template block_maker<T> external_blocks(product_function<T>, product_kind);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
