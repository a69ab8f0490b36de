// The partial sums that travel in a product with entries assigned in pieces
// (nonzero_split_operator.hpp): slots in the owners' memory, and the words by which devices agree
// when they may be written and read.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/comm/channel/channel.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

/// What travels is what the plan's parts send. Results are stored into the peers' slots by the
/// kernel that computes them where the path is direct, else into memory of their own device, from
/// where forward() copies them.
template <class T>
class partial_exchange {
public:
    partial_exchange(const communicator& comm, const nonzero_split_plan& plan);

    /// For the kernel of `rank` that computes its remote rows.
    [[nodiscard]] result_put<T> put(int rank, bool ordered) const;
    /// Whether that kernel reaches all owners.
    [[nodiscard]] bool reaches_all(int rank) const { return state(rank).staged.empty(); }
    /// For the one that computes its own rows, or the one that adds up after it.
    [[nodiscard]] partial_sums<T> sums(int rank) const;
    /// Whether the rows that get any are so few, and consecutive, that the product of the own rows
    /// adds them up at its end.
    [[nodiscard]] bool are_few(int rank) const { return state(rank).few; }

    /// To be called between the kernels for remote rows and those for own rows: copies the sums
    /// that are staged, and orders the kernels for own rows after the sums that they add, unless
    /// they wait for these on the devices.
    void forward(execution& run) const;

    /// Partial sums that a device receives for one product.
    [[nodiscard]] std::int64_t received(int rank) const {
        return static_cast<std::int64_t>(state(rank).slots.size());
    }
    /// Bytes that a product reads on a device to know where partial sums go and which there are.
    [[nodiscard]] std::int64_t index_bytes(int rank) const;

private:
    struct staged_message {
        int to;
        buffer<T> staging;
        T* target;
    };
    struct rank_state {
        buffer<T> slots;
        buffer<std::int32_t> rows;
        buffer<std::int32_t> first;
        buffer<std::int32_t> place;
        std::int32_t first_row = 0;
        bool few = true;
        buffer<T*> targets; // [remote rows]
        std::vector<staged_message> staged;
    };
    [[nodiscard]] const rank_state& state(int rank) const {
        return ranks_[static_cast<std::size_t>(rank)];
    }
    void receive(int rank, const local_split& part);
    void send(int rank, const local_split& part);

    communicator comm_;
    std::vector<rank_state> ranks_;
    channel channel_; // among ranks with a direct path
};

} // namespace krylith
