// Host devices with all-reduce slots, connected by hand: for tests of kernels without an execution.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/execution/kernel_context.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::testing {

/// `ranks` host devices that reduce with each other.
class host_ranks {
public:
    static constexpr int capacity = 40;
    static constexpr int array_size = 64;

    explicit host_ranks(int ranks, int threads = 1, std::uint64_t timeout_ns = 20'000'000'000)
        : timeout_ns_(timeout_ns), state_(static_cast<std::size_t>(ranks)) {
        for (int r = 0; r < ranks; ++r) {
            rank_state& s = state_[static_cast<std::size_t>(r)];
            s.own_slots.resize(std::size_t{2} * capacity * state_.size());
            for (auto& peer : state_) {
                s.peer_slots.push_back(nullptr);
                s.failures.push_back(&peer.failure);
            }
            s.slots.resize(std::size_t{2} * max_registers);
            s.array.resize(array_size);
            s.partials.resize(std::size_t{capacity} * host::reduction_chunks);
            s.device = std::make_unique<host_device>(r, threads);
        }
        for (auto& s : state_)
            for (std::size_t j = 0; j < state_.size(); ++j)
                s.peer_slots[j] = state_[j].own_slots.data();
    }

    ~host_ranks() {
        for (auto& s : state_) s.device.reset(); // tasks use the others' memory
    }
    host_ranks(const host_ranks&) = delete;
    host_ranks& operator=(const host_ranks&) = delete;

    [[nodiscard]] int size() const { return static_cast<int>(state_.size()); }
    [[nodiscard]] host_device& operator[](int rank) { return *at(rank).device; }

    /// Makes a guarded kernel context with nothing to do: tests add loads, sums and so on. The
    /// state is always loaded.
    [[nodiscard]] kernel_context make_context(int rank) {
        rank_state& s = at(rank);
        kernel_context context{};
        context.all_reduce = {s.own_slots.data(),
                              nullptr,
                              s.peer_slots.data(),
                              &s.published,
                              &s.signals,
                              &s.failure,
                              s.failures.data(),
                              nullptr,
                              timeout_ns_,
                              size(),
                              rank,
                              size(),
                              capacity};
        context.slots = s.slots.data();
        context.array = s.array.data();
        context.batch_array = -1;
        context.guarded = true;
        load(context, control::state);
        return context;
    }

    /// Register n is in slot 2 n; stores go to the same place.
    static void load(kernel_context& context, std::uint8_t reg) {
        context.program.loads[context.program.load_count++] = {reg,
                                                               static_cast<std::uint8_t>(2 * reg)};
    }
    static void store(kernel_context& context, std::uint8_t reg) {
        context.program.stores[context.program.store_count++] = {
            reg, static_cast<std::uint8_t>(2 * reg)};
    }
    static void record(kernel_context& context, scalar_opcode code, std::uint8_t to, std::uint8_t a,
                       std::uint8_t b = 0) {
        context.program.instructions[context.program.instruction_count++] = {code, to, a, b};
    }
    /// Makes the kernel context add up the batch under way into registers from `first` on, and
    /// store them.
    static void take_batch(kernel_context& context, int count, std::uint8_t first) {
        context.batch = count;
        for (int v = 0; v < count; ++v) {
            const auto reg = static_cast<std::uint8_t>(first + v);
            context.program.sums[v] = reg;
            load(context, reg);
            store(context, reg);
        }
    }

    [[nodiscard]] reduction into(int rank, int count) { return {at(rank).partials.data(), count}; }
    [[nodiscard]] double& slot(int rank, std::uint8_t reg) {
        return at(rank).slots[std::size_t{2} * reg];
    }
    [[nodiscard]] double* array(int rank) { return at(rank).array.data(); }
    [[nodiscard]] std::int32_t failure(int rank) { return at(rank).failure; }
    [[nodiscard]] std::uint64_t published(int rank) { return at(rank).published; }

    /// Enqueues a kernel that only performs the kernel context.
    void scalars(int rank, const kernel_context& context, std::uint64_t condition = 0) {
        host::scalars(*at(rank).device, {context, condition, {}, {}});
    }

    void synchronize() {
        for (auto& s : state_) s.device->synchronize();
    }

private:
    struct rank_state {
        std::vector<stamped_value> own_slots;
        std::vector<stamped_value*> peer_slots;
        std::vector<std::int32_t*> failures;
        std::vector<double> slots;
        std::vector<double> array;
        std::vector<double> partials;
        std::uint64_t published = 0;
        unsigned signals = 0;
        std::int32_t failure = 0;
        std::unique_ptr<host_device> device;
    };

    [[nodiscard]] rank_state& at(int rank) { return state_[static_cast<std::size_t>(rank)]; }

    std::uint64_t timeout_ns_;
    std::vector<rank_state> state_;
};

} // namespace krylith::testing
