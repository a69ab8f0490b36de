// The memory of a channel: counts on each rank, and the places of its peers' counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/comm/channel/channel_view.hpp>
#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith {

/// A channel among the ranks of a communicator. What is put, and where, is its users' business;
/// they also copy what kernels have left for receivers that these can't reach (peer_path::staged),
/// and then call forward(). After a failure the counts begin anew. Copies refer to the same counts.
class channel {
public:
    /// Data of a put that go by a posted path: where a local rank leaves or finds them.
    struct posted_data {
        int from = 0;
        int to = 0;
        std::shared_ptr<std::byte> outbox{}; ///< a host block, of a local sender
        std::byte* target = nullptr;         ///< of a local receiver
        std::size_t bytes = 0;
    };

    channel() = default; ///< of no ranks
    /// receivers[rank] are the ranks that it puts to, in the order in which views number them; each
    /// driver gives those of its local ranks. Senders are numbered in ascending order. `ahead` puts
    /// may be sent before any credit is given. Each driver gives the data that its local ranks put
    /// or get by posted paths, where none may be ahead. A few hundred bytes on each device.
    /// Collective. Throws usage_error where a GPU has more than 32 senders or receivers.
    channel(const communicator& comm, std::vector<std::vector<int>> receivers,
            const std::string& item, std::uint64_t ahead = 0,
            std::span<const posted_data> posted = {});

    /// The ranks that a rank, local or not, puts to.
    [[nodiscard]] const std::vector<int>& receivers(int rank) const;
    [[nodiscard]] const channel_view& view(int rank) const;
    /// Copies the signals of a local rank to the receivers that its kernels don't reach.
    void forward(int rank) const;

private:
    struct state;
    std::shared_ptr<const state> state_;
    std::shared_ptr<const void> restoration_;
};

} // namespace krylith
