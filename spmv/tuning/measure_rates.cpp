// Measures what machine_rates holds, with the kernels that solvers use.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>

namespace krylith {

namespace {

/// The sizes of the measurements: far above the caches of a GPU, and within 256 MB; small on the
/// host.
struct effort {
    std::int64_t copied;   ///< entries
    std::int64_t side;     ///< side of the grid whose matrix is multiplied
    std::int64_t gathered; ///< entries, on each device
    std::size_t bytes;     ///< bytes of a copy by engines
    double seconds;        ///< length of each timing
};
constexpr effort on_gpus{12000000, 116, 12000000, std::size_t{64} << 20, 0.02};
constexpr effort on_host{200000, 24, 100000, std::size_t{1} << 20, 0.003};

/// Returns the first devices of the group, each with as many threads as before.
communicator first_of(const communicator& comm, int count) {
    const bool staged = comm.ranks() > 1 && comm.path(0, 1) == peer_path::staged;
    if (comm.kind() == backend::host) {
        int threads = 0;
        for (int rank = 0; rank < count; ++rank)
            threads += static_cast<const host_device&>(comm[rank]).threads();
        return device_group::host(count, {.staged = staged, .host_threads = threads});
    }
    std::vector<int> ordinals;
    for (int rank = 0; rank < count; ++rank) ordinals.push_back(comm[rank].ordinal());
    return device_group::cuda(ordinals, {.staged = staged});
}

/// Returns the seconds of a trip of `work`, with one stop test.
double timed(execution& run, const effort& e, const std::function<void()>& work) {
    scalar one(run);
    return seconds_a_trip(
        run,
        [&] {
            work();
            one = 1.0;
            test_residual(one);
        },
        e.seconds);
}

/// Returns bytes a second, without the phase that the model adds by itself. At least half the time
/// counts as the time of the bytes.
double rate(double bytes, double seconds, double phase) {
    return bytes / std::max(seconds - phase, seconds / 2);
}

double phase_seconds(const communicator& comm, const effort& e) {
    constexpr std::int64_t entries = 1024;
    const auto handle = std::make_shared<const layout>(
        layout{comm, equal_rows(entries * comm.ranks(), comm.ranks()), coherence::owned});
    const vector<double> v(handle, "measurement");
    execution run(comm, {});
    scalar sum(run);
    return seconds_a_trip(
        run,
        [&] {
            fused(run, sum = dot(v, v));
            test_residual(sum);
        },
        e.seconds / 4);
}

double copy_rate(const communicator& one, const effort& e, double phase) {
    const auto handle =
        std::make_shared<const layout>(layout{one, equal_rows(e.copied, 1), coherence::owned});
    const vector<double> from(handle, "measurement");
    vector<double> to(handle, "measurement");
    execution run(one, {});
    const double seconds = timed(run, e, [&] { fused(run, to = from); });
    return rate(16.0 * static_cast<double>(e.copied), seconds, phase);
}

double product_rate(const communicator& one, const effort& e, double phase) {
    const auto matrix = poisson3d<double>(e.side);
    const auto a = make_operator(one, matrix, {.kind = operators::halo});
    const auto x = a->make_domain_vector("measurement");
    auto y = a->make_range_vector("measurement");
    execution run(one, {});
    const double seconds = timed(run, e, [&] { a->apply(run, 1.0, x, 0.0, y); });
    const double bytes =
        12.0 * static_cast<double>(matrix.nnz()) + 16.0 * static_cast<double>(matrix.rows);
    return rate(bytes, seconds, phase);
}

double store_rate(const communicator& comm, const effort& e, double phase) {
    const int p = comm.ranks();
    const auto rows = equal_rows(e.gathered, p, 32);
    const auto handle = std::make_shared<const layout>(layout{comm, rows, coherence::owned});
    const auto schedule =
        std::make_shared<const put_schedule<double>>(handle, all_columns(rows, rows));
    const vector<double> from(handle, "measurement");
    vector<double> to(handle, "measurement", schedule);
    execution run(comm, {});
    const double seconds = timed(run, e, [&] { fused(run, to = from); });
    return rate(8.0 * static_cast<double>(schedule->ghosts(0)), seconds, phase);
}

double engine_rate(const communicator& comm, const effort& e) {
    const int p = comm.ranks();
    std::vector<buffer<std::byte>> from;
    std::vector<buffer<std::byte>> to;
    for (int rank = 0; rank < p; ++rank) {
        from.emplace_back(comm.handle(rank), e.bytes, "measurement");
        to.emplace_back(comm.handle(rank), e.bytes, "measurement");
        from.back().zero();
        to.back().zero();
    }
    const auto seconds_of = [&](int copies) {
        comm.synchronize();
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < copies; ++k)
            for (int rank = 0; rank < p; ++rank) {
                const int next = (rank + 1) % p;
                comm.copy(rank, from[static_cast<std::size_t>(rank)].data(), next,
                          to[static_cast<std::size_t>(next)].data(), e.bytes);
            }
        comm.synchronize();
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        return passed.count() / copies;
    };
    (void)seconds_of(1);
    return static_cast<double>(e.bytes) / std::max(seconds_of(8), 1e-9);
}

} // namespace

machine_rates measure(const communicator& comm) {
    const effort& e = comm.kind() == backend::host ? on_host : on_gpus;
    machine_rates rates;
    for (int devices = 1; devices <= comm.ranks(); ++devices)
        rates.phase.push_back(phase_seconds(first_of(comm, devices), e));
    const communicator one = first_of(comm, 1);
    rates.copy = copy_rate(one, e, rates.phase.front());
    rates.product = product_rate(one, e, rates.phase.front());
    // One device sends nothing, so nothing slows it down.
    rates.stores = comm.ranks() == 1 ? rates.copy : store_rate(comm, e, rates.phase.back());
    rates.engines = comm.ranks() == 1 ? rates.copy : engine_rate(comm, e);
    comm.synchronize();
    return rates;
}

} // namespace krylith
