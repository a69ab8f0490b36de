#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/spmv/nonzero_split/summed_rows.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/execution/host_signal.hpp>

namespace krylith::host {

template <class T>
void add_partial_sums(device& device, const spmv_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, all = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        const partial_sums<T>& sums = a.partials;
        if (!wait_for(a.common.all_reduce, sums.arrived)) return;
        in_team(worthwhile_team(all, sums.count), [&](int thread, int team) {
            const std::int64_t count = sums.count;
            for (auto m = static_cast<std::int32_t>(count * thread / team);
                 m < count * (thread + 1) / team; ++m)
                a.y[sums.rows[m]] += a.alpha * sums.sum(m);
        });
        if (sums.arrived.senders != 0) tell(sums.peer_credits, sums.arrived.senders, ++*sums.next);
    });
}

#define KRYLITH_INSTANTIATE(T) template void add_partial_sums(device&, const spmv_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
