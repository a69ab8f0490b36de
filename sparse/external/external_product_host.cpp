#include <krylith/device/host/host_device.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/sparse/epilogue/row_epilogue_host.hpp>
#include <krylith/sparse/external/external_product.hpp>

namespace krylith::host {

template <class T>
void before_product(device& device, const spmv_arguments<T>& a) {
    // A wait that fails has told all ranks: after_product() then does nothing.
    static_cast<host_device&>(device).submit(
        [a] { (void)wait_for(a.common.all_reduce, a.ghosts); });
}

template <class T>
void after_product(device& device, const spmv_arguments<T>& a, std::int64_t rows,
                   const T* product) {
    static_cast<host_device&>(device).submit([a, rows, product] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        const row_epilogue<T> results(a, 1);
        if (!results.before_writing() || !results.before_reading(true)) return;
        row_part<T> all = results.part(0);
        all.take(product, rows);
        all.leave();
        results.leave();
    });
}

#define KRYLITH_INSTANTIATE(T) template struct instances<before_product<T>, after_product<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
