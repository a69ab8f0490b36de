#include <krylith/vector/scalar/host_context.hpp>

#include <atomic>

#include <krylith/vector/scalar/host_signal.hpp>

namespace krylith::host {

namespace {

void store(const frame& f, const registers& reg) {
    for (int i = 0; i < f.program.store_count; ++i)
        f.slots[f.program.stores[i].slot] = reg[f.program.stores[i].number];
}

/// The epoch is written after the value, so whoever sees the one has the other.
void post(letter& place, double value, std::uint64_t epoch) {
    std::atomic_ref(place.value).store(value, std::memory_order_relaxed);
    store_release(place.epoch, epoch);
}

[[nodiscard]] bool receive(const mailbox& mail, std::uint64_t epoch, int v, int from,
                           double& value) {
    letter& place = mail.inbox[mail.at(epoch, v, from)];
    if (!wait_until(mail, from, [&] { return load_acquire(place.epoch) == epoch; })) return false;
    value = std::atomic_ref(place.value).load(std::memory_order_relaxed);
    return true;
}

[[nodiscard]] bool add_batch(const frame& f, registers& reg) {
    const std::uint64_t epoch = *f.mail.published;
    for (int v = 0; v < f.batch; ++v) {
        double sum = 0;
        if (!receive(f.mail, epoch, v, 0, sum)) return false;
        for (int rank = 1; rank < f.mail.ranks; ++rank) {
            double part = 0;
            if (!receive(f.mail, epoch, v, rank, part)) return false;
            sum += part;
        }
        if (f.batch_array < 0)
            reg[f.program.sums[v]] = sum;
        else
            f.array[f.batch_array + v] = sum;
    }
    return true;
}

} // namespace

bool begin(const frame& f, registers& reg) {
    if (failed(f.mail)) return false;
    for (int i = 0; i < f.program.load_count; ++i)
        reg[f.program.loads[i].number] = f.slots[f.program.loads[i].slot];
    if (f.guarded && reg[control::state] != 0.0) {
        store(f, reg); // later kernels look for the scalars where this one would have put them
        return false;
    }
    for (int i = 0; i < f.arrival_count; ++i)
        if (!wait_for(f.mail, f.arrivals[i])) return false;
    if (f.batch > 0 && !add_batch(f, reg)) return false;
    run(f.program, reg.value, f.history, true, f.guarded);
    store(f, reg);
    return !f.guarded || reg[control::state] == 0.0;
}

void publish(const frame& f, const reduction& sums, std::int64_t chunks) {
    if (sums.count == 0) return;
    const std::uint64_t epoch = *f.mail.published + 1;
    for (int v = 0; v < sums.count; ++v) {
        const double* parts = sums.partials + v * chunks;
        double sum = 0;
        for (std::int64_t c = 0; c < chunks; ++c) sum += parts[c];
        for (int j = 0; j < f.mail.ranks; ++j)
            post(f.mail.outboxes[j][f.mail.at(epoch, v, f.mail.rank)], sum, epoch);
    }
    *f.mail.published = epoch;
}

} // namespace krylith::host
