#include <krylith/tools/model/device_figures.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::tool {

namespace {

constexpr int warm_up_runs = 2;
constexpr int copies = 8;

/// Seconds of one copy: the median of five runs of some copies each.
double seconds_a_copy(const device_group& group, const std::function<void()>& copy) {
    const auto run = [&](int count) {
        group.synchronize();
        stopwatch watch;
        for (int i = 0; i < count; ++i) copy();
        group.synchronize();
        return watch.lap() / count;
    };
    (void)run(warm_up_runs);
    std::array<double, 5> seconds{};
    for (double& s : seconds) s = run(copies);
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
}

buffer<std::byte> zeros(const device_group& group, int rank, std::size_t bytes) {
    buffer<std::byte> memory(group.handle(rank), bytes, "measurement");
    memory.zero();
    return memory;
}

} // namespace

double copy_rate(const device_group& group, int rank, std::size_t bytes) {
    const auto from = zeros(group, rank, bytes);
    const auto to = zeros(group, rank, bytes);
    const double seconds =
        seconds_a_copy(group, [&] { group[rank].copy(to.data(), from.data(), bytes); });
    return 2 * static_cast<double>(bytes) / seconds;
}

double peer_rate(const device_group& group, int from, int to, std::size_t bytes) {
    const auto source = zeros(group, from, bytes);
    const auto target = zeros(group, to, bytes);
    const double seconds =
        seconds_a_copy(group, [&] { group.copy(from, source.data(), to, target.data(), bytes); });
    return static_cast<double>(bytes) / seconds;
}

double all_reduce_seconds(const device_group& group) {
    constexpr std::int64_t entries = 1024;
    const auto where = std::make_shared<const layout>(
        layout{group, equal_rows(entries * group.size(), group.size()), coherence::owned});
    const vector<double> v(where);
    execution run(group, {});
    scalar sum(run);
    return seconds_a_trip(
        run,
        [&] {
            fused(run, sum = dot(v, v));
            test_residual(sum);
        },
        0.05);
}

} // namespace krylith::tool
