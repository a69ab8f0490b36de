#include <krylith/precond/sweeps/sweep_rows.hpp>

#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/epilogue/row_epilogue_host.hpp>

namespace krylith::host {

namespace {

template <class T>
void sweep_on_host(const detail::colour_rows_view<T>& rows, const spmv_arguments<T>& a,
                   int threads) {
    registers reg;
    if (!kernel_prologue(a.common, reg)) return;
    const row_epilogue<T> results(a, 1);
    if (!results.before_writing()) return;
    constexpr std::int64_t worth_a_thread = 2048; // rows
    in_team(static_cast<int>(std::clamp<std::int64_t>(rows.count / worth_a_thread, 1, threads)),
            [&](int thread, int team) {
                if (!results.before_reading(true)) return;
                for (std::int64_t i = rows.count * thread / team;
                     i < rows.count * (thread + 1) / team; ++i) {
                    T sum = 0;
                    for (std::int64_t k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k)
                        sum += rows.values[k] * a.x[rows.columns[k]];
                    a.y[rows.rows[i]] += sum;
                }
            });
    results.leave();
}

} // namespace

template <class T>
void sweep_rows(device& device, const detail::colour_rows_view<T>& rows,
                const spmv_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([rows, a, threads = host.threads()] { sweep_on_host(rows, a, threads); });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void sweep_rows(device&, const detail::colour_rows_view<T>&, const spmv_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
