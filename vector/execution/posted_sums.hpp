// Batches of sums over ranks of several machines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/comm/communicator.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>

namespace krylith {

/// Local ranks leave what they publish in memory of the host. The hosts exchange the values of all
/// ranks, each adds them up in rank order, so that results have the bits of one machine, and hands
/// the sums to its ranks: to the slots of host devices, to the inboxes of GPUs.
///
/// D drivers exchange a batch in ceil(log2 D) steps (dissemination): in step s each sends what it
/// has, its own and that of the 2^s - 1 drivers before it, to the driver 2^s places behind it.
class posted_sums final : public message_carrier::client {
public:
    /// `slots` is how many stamped values a rank has room for: two batches. Collective.
    posted_sums(const communicator& comm, std::size_t slots);
    ~posted_sums() override;

    /// Where a local rank finds the sums (all_reduce_slots::inbox); null for host devices.
    [[nodiscard]] const stamped_value* inbox(int rank) const { return of(rank).inbox.get(); }
    /// Where a local rank leaves its values.
    [[nodiscard]] stamped_value* outbox(int rank) const { return of(rank).outbox.get(); }
    /// Says how the slots of a local rank are used; its kernels may run then.
    void connect(int rank, const all_reduce_slots& view) { of(rank).view = view; }
    struct missing_rank {
        int rank;
        bool brings_others; ///< whose values may be those that are awaited
    };
    /// Whose values are awaited.
    [[nodiscard]] missing_rank missing() const;

    void collect() override;
    [[nodiscard]] std::shared_ptr<std::byte> receive_buffer(const carried_message&) override {
        return nullptr; // they are copied from where the carrier has them
    }
    void arrive(const carried_message& message, const std::byte* bytes) override;
    void fail(int rank) override;
    void begin_anew() override;

private:
    struct local_rank {
        std::size_t bytes; ///< of the slots, and of the next two
        std::shared_ptr<stamped_value> inbox;
        std::shared_ptr<stamped_value> outbox;
        std::shared_ptr<std::uint32_t> failed; ///< what a failure word becomes
        all_reduce_slots view{};
    };
    /// A driver that has ranks here.
    struct party {
        int driver;
        int first; ///< rank
        int ranks;
    };
    struct batch {
        std::uint64_t epoch = 0; ///< 0: none
        int count = 0;           ///< of values
        int known = 0;           ///< parties whose values are here: this one, and those before it
        int step = 0;
        bool sent = false;                         ///< what belongs to the step
        std::uint32_t arrived = 0;                 ///< a bit for each step
        std::vector<std::vector<double>> values{}; ///< [parties][its ranks * count], by rank
    };

    [[nodiscard]] const local_rank& of(int rank) const {
        return ranks_[static_cast<std::size_t>(rank - comm_.first_local())];
    }
    [[nodiscard]] local_rank& of(int rank) {
        return ranks_[static_cast<std::size_t>(rank - comm_.first_local())];
    }
    [[nodiscard]] int parties() const { return static_cast<int>(parties_.size()); }
    /// The party so many places before this one, around the ring.
    [[nodiscard]] int party_before(int places) const;
    [[nodiscard]] batch& at(std::uint64_t epoch);
    /// How many values a local rank has left of the next batch; 0: not all of them.
    [[nodiscard]] int values_left(int rank) const;
    [[nodiscard]] bool take_own();
    void advance(batch& of);
    void send(const batch& of, int blocks);
    void deliver(const batch& of);

    communicator comm_;
    message_carrier& carrier_;
    std::uint64_t place_;
    std::vector<local_rank> ranks_;
    std::vector<party> parties_;
    int own_ = 0;                    ///< party
    std::uint64_t next_ = 1;         ///< the batch that local ranks leave next
    std::array<batch, 2> batches_{}; ///< no more are under way (all_reduce_slots.hpp)
};

} // namespace krylith
