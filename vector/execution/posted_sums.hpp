// Batches of sums that go to ranks of other machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/comm/communicator.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>

namespace krylith {

/// Carries what local ranks publish to all ranks of other drivers: to the slots of host devices, to
/// the inboxes of GPUs. Kernels add up all ranks' values in the same order as on one machine:
/// results have the same bits.
class posted_sums final : public message_carrier::client {
public:
    /// `slots` is how many stamped values a rank has room for, of all ranks. Collective.
    posted_sums(const communicator& comm, std::size_t slots);
    ~posted_sums() override;

    /// Where a local rank finds what comes from other drivers (all_reduce_slots::inbox).
    [[nodiscard]] const stamped_value* inbox(int rank) const { return of(rank).inbox.get(); }
    /// Where a local rank writes for ranks of other drivers.
    [[nodiscard]] stamped_value* outbox(int rank) const { return of(rank).outbox.get(); }
    /// Says how the slots of a local rank are used; its kernels may run then.
    void connect(int rank, const all_reduce_slots& view) { of(rank).view = view; }

    void collect() override;
    [[nodiscard]] std::shared_ptr<std::byte> receive_buffer(const carried_message&) override {
        return nullptr; // they are copied from where the carrier has them
    }
    void arrive(const carried_message& message, const std::byte* bytes) override;
    void fail(int rank) override;
    void begin_anew() override;

private:
    struct local_rank {
        std::size_t bytes;                    ///< of the slots, and of the next two
        std::shared_ptr<stamped_value> inbox; ///< null for host devices
        std::shared_ptr<stamped_value> outbox;
        std::shared_ptr<std::uint32_t> failed; ///< what a failure word becomes
        all_reduce_slots view{};
        std::uint64_t epoch = 1; ///< of the batch that is carried next
        int next = 0;            ///< its first value that is not under way
    };
    [[nodiscard]] const local_rank& of(int rank) const {
        return ranks_[static_cast<std::size_t>(rank - first_)];
    }
    [[nodiscard]] local_rank& of(int rank) {
        return ranks_[static_cast<std::size_t>(rank - first_)];
    }
    void collect(int rank, local_rank& own);

    communicator comm_;
    message_carrier& carrier_;
    std::uint64_t place_;
    int first_ = 0; ///< local rank
    std::vector<local_rank> ranks_;
};

} // namespace krylith
