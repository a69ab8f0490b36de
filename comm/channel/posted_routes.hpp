// Data and counts that kernels leave in memory of the host for ranks whose memory they can't reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/comm/communicator.hpp>

namespace krylith {

/// Routes of one channel, or of whatever else has a word that says that data are there: where the
/// word of the sender has another value, the data and then the word are copied to the receiver's.
/// The sender must not write either again before it has learnt that the receiver has them.
class posted_routes final : public message_carrier::client {
public:
    struct outgoing {
        int from = 0; ///< a local rank
        int to = 0;
        std::uint32_t kind = 0; ///< tells routes between the same ranks apart
        /// In host blocks.
        std::shared_ptr<std::uint64_t> word{};
        std::shared_ptr<std::byte> data{};
        std::size_t bytes = 0;
        /// The kind of the route, the other way, for which this one gives credit: no more of it is
        /// sent than that one has brought. Kernels give credit when they have read what is there,
        /// and nobody need have read what is under way.
        std::optional<std::uint32_t> credit_for{};
    };
    struct incoming {
        int from = 0;
        int to = 0; ///< a local rank
        std::uint32_t kind = 0;
        std::uint64_t* word = nullptr;
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        bool on_host = false;      ///< they are in memory of the host, for any device
        bool keeps_newest = false; ///< several routes have this word
    };

    /// Collective, as all that is made for routes. `comm` has posted paths.
    explicit posted_routes(const communicator& comm);
    ~posted_routes() override;

    void add(outgoing route);
    void add(incoming route);

    void collect() override;
    [[nodiscard]] std::shared_ptr<std::byte>
    receive_buffer(const carried_message& message) override;
    void arrive(const carried_message& message, const std::byte* bytes) override;
    void fail(int) override {}
    void begin_anew() override;

private:
    struct sender {
        outgoing route;
        std::uint64_t sent = 0;
    };
    struct receiver {
        incoming route;
        /// The data, from where they are copied to the memory of a GPU; null where there are none,
        /// or kernels read memory of the host.
        std::shared_ptr<std::byte> copy{};
        std::shared_ptr<event> copied{};
        std::uint64_t arrived = 0; ///< the last word
    };
    [[nodiscard]] bool is_on_gpu(const incoming& route) const {
        return !route.on_host && comm_.kind() == backend::cuda;
    }
    [[nodiscard]] receiver* find(const carried_message& message);
    /// Copies data, and then the word, beside the stream.
    void arrive_on_gpu(receiver& to, std::uint64_t word, const std::byte* bytes);
    /// What may be sent of a word now.
    [[nodiscard]] std::uint64_t due(const outgoing& route, std::uint64_t word) const;

    communicator comm_;
    message_carrier& carrier_;
    std::uint64_t place_;
    std::vector<sender> senders_;
    std::vector<receiver> receivers_;
};

} // namespace krylith
