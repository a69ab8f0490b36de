#include <krylith/vector/execution/host_context.hpp>

#include <atomic>

#include <krylith/vector/execution/host_signal.hpp>

namespace krylith::host {

namespace {

void store(const kernel_context& context, const registers& reg) {
    for (int i = 0; i < context.program.store_count; ++i)
        context.slots[context.program.stores[i].slot] = reg[context.program.stores[i].number];
}

[[nodiscard]] bool receive(const all_reduce_slots& all_reduce, std::uint64_t epoch, int v, int from,
                           double& value) {
    stamped_value& place = all_reduce.own_slots[all_reduce.at(epoch, v, from)];
    if (!wait_until(all_reduce, all_reduce.awaited(from),
                    [&] { return load_acquire(place.epoch) == epoch; }))
        return false;
    value = std::atomic_ref(place.value).load(std::memory_order_relaxed);
    return true;
}

[[nodiscard]] bool add_batch(const kernel_context& context, registers& reg) {
    const std::uint64_t epoch = *context.all_reduce.published;
    for (int v = 0; v < context.batch; ++v) {
        double sum = 0;
        if (!receive(context.all_reduce, epoch, v, 0, sum)) return false;
        for (int source = 1; source < context.all_reduce.sources; ++source) {
            double value = 0;
            if (!receive(context.all_reduce, epoch, v, source, value)) return false;
            sum += value;
        }
        if (context.batch_array < 0)
            reg[context.program.sums[v]] = sum;
        else
            context.array[context.batch_array + v] = sum;
    }
    return true;
}

} // namespace

bool kernel_prologue(const kernel_context& context, registers& reg) {
    if (failed(context.all_reduce)) return false;
    for (int i = 0; i < context.program.load_count; ++i)
        reg[context.program.loads[i].number] = context.slots[context.program.loads[i].slot];
    if (context.guarded && reg[control::state] != 0.0) {
        store(context, reg); // later kernels read the scalars at the places of this one
        return false;
    }
    for (int i = 0; i < context.signal_count; ++i)
        if (!wait_for(context.all_reduce, context.signals[i])) return false;
    if (context.batch > 0 && !add_batch(context, reg)) return false;
    run(context.program, reg.value, context.history, true, context.guarded);
    store(context, reg);
    return !context.guarded || reg[control::state] == 0.0;
}

void publish(const kernel_context& context, const reduction& sums, std::int64_t chunks) {
    if (sums.count == 0) return;
    const all_reduce_slots& all_reduce = context.all_reduce;
    const std::uint64_t epoch = *all_reduce.published + 1;
    for (int v = 0; v < sums.count; ++v) {
        const double* partials = sums.partials + v * chunks;
        double sum = 0;
        for (std::int64_t c = 0; c < chunks; ++c) sum += partials[c];
        for (int j = 0; j < all_reduce.sources; ++j)
            store_stamped(
                all_reduce.peer_slots[j][all_reduce.at(epoch, v, all_reduce.own_source())],
                {sum, all_reduce.stamp(epoch, sums.count)});
    }
    *all_reduce.published = epoch;
}

} // namespace krylith::host
