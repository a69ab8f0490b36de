#include <krylith/spmv/spmspv/rank_sweep.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <krylith/device/host_device.hpp>
#include <krylith/spmv/spmspv/host_shares.hpp>

namespace krylith::host {

template <class T>
void sweep_ranks(device& where, const spmspv::rank_sweep<T>& sweep,
                 const spmspv::sweep_arguments<T>& a) {
    auto& host = static_cast<host_device&>(where);
    const int parts = team_for(host.threads(), a.rows);
    std::vector<std::pair<double, double>> sums(static_cast<std::size_t>(parts));
    host.submit([sweep, a, parts, sums]() mutable {
        const std::int64_t words = (a.rows + 31) / 32;
        for_parts(parts, [&](int part) {
            double residual = 0;
            double rank = 0;
            const std::int64_t end = part_begin(words, part + 1, parts);
            for (std::int64_t word = part_begin(words, part, parts); word < end; ++word) {
                const std::int64_t last = std::min(a.rows, word * 32 + 32);
                for (std::int64_t i = word * 32; i < last; ++i) {
                    auto row = sweep.read(i);
                    a.x[i] = sweep.update(i, row, a.y != nullptr ? a.y[i] : T(0));
                    residual += std::fabs(static_cast<double>(row.residual));
                    rank += static_cast<double>(row.rank);
                }
                a.bits[word] = ~0U >> (word * 32 + 32 - last);
            }
            sums[static_cast<std::size_t>(part)] = {residual, rank};
        });
        double residual = 0;
        double rank = 0;
        for (const auto& part : sums) {
            residual += part.first;
            rank += part.second;
        }
        a.post.words[0] = std::bit_cast<std::int64_t>(residual);
        a.post.words[1] = std::bit_cast<std::int64_t>(rank);
        *a.post.posted = a.post.number;
    });
}

template void sweep_ranks(device&, const spmspv::rank_sweep<double>&,
                          const spmspv::sweep_arguments<double>&);
template void sweep_ranks(device&, const spmspv::rank_sweep<float>&,
                          const spmspv::sweep_arguments<float>&);

} // namespace krylith::host
