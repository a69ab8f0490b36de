#include <krylith/graph/frontier/power_step.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include <krylith/device/host/host_device.hpp>
#include <krylith/spmspv/kernels/host_ranges.hpp>

namespace krylith::host {

template <class T>
void step_ranks(device& device, const spmspv::power_step<T>& step,
                const spmspv::power_step_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    const int parts = team_for(host.threads(), a.rows);
    std::vector<std::array<double, 3>> sums(static_cast<std::size_t>(parts));
    host.submit([step, a, parts, sums]() mutable {
        const std::int64_t words = (a.rows + 31) / 32;
        for_parts(parts, [&](int part) {
            std::array<double, 3> mine = {};
            const std::int64_t end = part_begin(words, part + 1, parts);
            for (std::int64_t word = part_begin(words, part, parts); word < end; ++word) {
                const std::int64_t last = std::min(a.rows, word * 32 + 32);
                for (std::int64_t i = word * 32; i < last; ++i) {
                    auto row = step.read(i);
                    a.x[i] = step.update(i, row, a.y != nullptr ? a.y[i] : T(0));
                    mine[0] += std::fabs(static_cast<double>(row.residual));
                    mine[1] += step.gives(row);
                    mine[2] += static_cast<double>(row.rank);
                }
                a.bits[word] = ~0U >> (word * 32 + 32 - last);
            }
            sums[static_cast<std::size_t>(part)] = mine;
        });
        if (a.post.posted == nullptr) return;
        for (std::size_t v = 0; v < 3; ++v) {
            double sum = 0;
            for (const auto& part : sums) sum += part[v];
            a.post.words[v] = std::bit_cast<std::int64_t>(sum);
        }
        *a.post.posted = a.post.number;
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void step_ranks(device&, const spmspv::power_step<T>&,                                \
                             const spmspv::power_step_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
