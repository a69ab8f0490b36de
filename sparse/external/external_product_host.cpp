#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/sparse/epilogue/row_epilogue_host.hpp>
#include <krylith/sparse/external/external_product.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>

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
    auto& host = static_cast<host_device&>(device);
    host.submit([a, rows, product, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        const chunking all(rows);
        const row_epilogue<T> results(a, all.count);
        if (!results.before_writing() || !results.before_reading(true)) return;
        in_team(worthwhile_team(threads, rows), [&](std::int64_t thread, std::int64_t team) {
            for (std::int64_t chunk = all.count * thread / team;
                 chunk < all.count * (thread + 1) / team; ++chunk) {
                row_part<T> part = results.part(chunk);
                part.take(product, chunk * all.length, std::min(rows, (chunk + 1) * all.length));
                part.leave();
            }
        });
        results.leave();
    });
}

#define KRYLITH_INSTANTIATE(T) template struct instances<before_product<T>, after_product<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
