#include <krylith/vector/scalar/host_context.hpp>

#include <atomic>

#include <krylith/vector/scalar/host_signal.hpp>

namespace krylith::host {

namespace {

void store(const kernel_context& f, const registers& reg) {
    for (int i = 0; i < f.program.store_count; ++i)
        f.slots[f.program.stores[i].slot] = reg[f.program.stores[i].number];
}

/// Posts a stamped value. The epoch is written after the value, so a reader that sees the epoch has
/// the value.
void post(stamped_value& place, double value, std::uint64_t epoch) {
    std::atomic_ref(place.value).store(value, std::memory_order_relaxed);
    store_release(place.epoch, epoch);
}

[[nodiscard]] bool receive(const all_reduce_slots& all_reduce, std::uint64_t epoch, int v, int from,
                           double& value) {
    stamped_value& place = all_reduce.own_slots[all_reduce.at(epoch, v, from)];
    if (!wait_until(all_reduce, from, [&] { return load_acquire(place.epoch) == epoch; }))
        return false;
    value = std::atomic_ref(place.value).load(std::memory_order_relaxed);
    return true;
}

[[nodiscard]] bool add_batch(const kernel_context& f, registers& reg) {
    const std::uint64_t epoch = *f.all_reduce.published;
    for (int v = 0; v < f.batch; ++v) {
        double sum = 0;
        if (!receive(f.all_reduce, epoch, v, 0, sum)) return false;
        for (int rank = 1; rank < f.all_reduce.ranks; ++rank) {
            double value = 0;
            if (!receive(f.all_reduce, epoch, v, rank, value)) return false;
            sum += value;
        }
        if (f.batch_array < 0)
            reg[f.program.sums[v]] = sum;
        else
            f.array[f.batch_array + v] = sum;
    }
    return true;
}

} // namespace

bool kernel_prologue(const kernel_context& f, registers& reg) {
    if (failed(f.all_reduce)) return false;
    for (int i = 0; i < f.program.load_count; ++i)
        reg[f.program.loads[i].number] = f.slots[f.program.loads[i].slot];
    if (f.guarded && reg[control::state] != 0.0) {
        store(f, reg); // later kernels look for the scalars where this one would have put them
        return false;
    }
    for (int i = 0; i < f.signal_count; ++i)
        if (!wait_for(f.all_reduce, f.signals[i])) return false;
    if (f.batch > 0 && !add_batch(f, reg)) return false;
    run(f.program, reg.value, f.history, true, f.guarded);
    store(f, reg);
    return !f.guarded || reg[control::state] == 0.0;
}

void publish(const kernel_context& f, const reduction& sums, std::int64_t chunks) {
    if (sums.count == 0) return;
    const std::uint64_t epoch = *f.all_reduce.published + 1;
    for (int v = 0; v < sums.count; ++v) {
        const double* partials = sums.partials + v * chunks;
        double sum = 0;
        for (std::int64_t c = 0; c < chunks; ++c) sum += partials[c];
        for (int j = 0; j < f.all_reduce.ranks; ++j)
            post(f.all_reduce.peer_slots[j][f.all_reduce.at(epoch, v, f.all_reduce.rank)], sum,
                 epoch);
    }
    *f.all_reduce.published = epoch;
}

} // namespace krylith::host
