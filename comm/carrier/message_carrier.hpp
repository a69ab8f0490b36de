// How what kernels leave for ranks whose memory they can't reach gets there: the host threads of
// both sides carry it, by the link, while they wait for their devices.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <krylith/comm/driver_link.hpp>
#include <krylith/device/device_group.hpp>

namespace krylith {

/// What goes from one rank to another, or to all ranks of another driver.
struct carried_message {
    std::uint64_t place; ///< of whom it is: message_carrier::add()
    std::uint64_t word;  ///< a count, or a stamp
    std::uint64_t size;  ///< of the bytes that belong to it
    std::uint32_t kind;  ///< for whoever has the place
    std::int32_t from;   ///< a rank
    std::int32_t to;
    /// The bytes where they are few; others follow in a message of their own.
    std::array<std::byte, 92> bytes;
};

/// One driver's part, of a communicator and all that are made of its ranks. What one driver posts
/// for another arrives in that order.
class message_carrier {
public:
    /// What has something carried. All drivers make the same ones in the same order, and meet
    /// before a kernel leaves anything.
    class client {
    public:
        client() = default;
        client(const client&) = delete;
        client& operator=(const client&) = delete;
        virtual ~client() = default;
        /// Posts what kernels have left since the last call.
        virtual void collect() = 0;
        /// Returns where the bytes of a message go that don't lie in it; null: nobody needs them.
        [[nodiscard]] virtual std::shared_ptr<std::byte>
        receive_buffer(const carried_message& message) = 0;
        /// Hands a message to the devices, without waiting for their work.
        virtual void arrive(const carried_message& message, const std::byte* bytes) = 0;
        /// Ends the waits of local kernels: a rank has failed.
        virtual void fail(int rank) = 0;
        /// Counts begin anew. Nothing is under way, and the devices are idle.
        virtual void begin_anew() = 0;
    };

    /// Waits of the host for the devices, of which `first` is the first rank, carry messages from
    /// now on.
    message_carrier(std::shared_ptr<driver_link> link, device_group devices, int first);
    message_carrier(const message_carrier&) = delete;
    message_carrier& operator=(const message_carrier&) = delete;
    ~message_carrier();

    /// Gives a client its place, by which its like at other drivers are known.
    [[nodiscard]] std::uint64_t add(client& one);
    void remove(std::uint64_t place) noexcept { clients_.erase(place); }
    /// The last place that was given: where something failed meanwhile drivers differ, and go on
    /// from the largest.
    [[nodiscard]] std::uint64_t last_place() const noexcept { return last_place_; }
    void set_last_place(std::uint64_t place) noexcept { last_place_ = place; }

    [[nodiscard]] int drivers() const { return link_->drivers(); }
    [[nodiscard]] int driver() const { return link_->driver(); }
    /// Begins to send a message, and bytes that `owner` keeps where they don't fit into it.
    void post(int driver, const carried_message& message, const std::byte* bytes = nullptr,
              std::shared_ptr<const void> owner = nullptr);
    /// Copies to memory of a local GPU beside its stream; `from` is a host block that is left alone
    /// until the copy is done. Of one device they are done in order.
    void bring(device& to, const void* from, void* target, std::size_t bytes);
    /// Writes a word in that order.
    void write(device& to, std::uint64_t* target, std::uint64_t word);
    /// Returns an event after the copies to a local GPU so far.
    [[nodiscard]] std::shared_ptr<event> brought(device& to);

    /// Posts and delivers what there is, and returns: long messages take several calls. Does
    /// nothing but for the thread that last called take_over(): a link is for one thread.
    void carry() noexcept;
    void take_over() noexcept { owner_ = std::this_thread::get_id(); }
    /// Sends nothing from now on: the devices are idle, and counts are to begin anew, so that
    /// nobody needs it, and what arrives after they have begun would be taken for new.
    void end_posting() noexcept { ending_ = true; }
    /// Throws what carry() could not, once: a link that has failed fails again.
    void check();

    /// Ends waits of all drivers' kernels for each other.
    void announce_failure() noexcept;
    /// How many messages were posted to each driver, [drivers].
    [[nodiscard]] std::span<const std::uint64_t> posted() const noexcept { return posted_; }
    /// Carries until as many have come from each driver, [drivers], and all are sent and delivered.
    /// Throws communication_error where they don't come in the link's time.
    void finish(std::span<const std::uint64_t> coming);
    /// Then all clients begin anew.
    void begin_anew();

private:
    struct mailbox;
    /// A message under way, or one whose memory the next to that driver takes: MPI keeps requests
    /// of the same memory.
    struct pending_send {
        int driver;
        void* request; ///< null: none
        std::shared_ptr<carried_message> message;
        std::shared_ptr<const void> bytes{};
        void* bytes_request = nullptr;
    };

    void finish_sent();
    void receive(mailbox& from);
    /// Returns false where the bytes are still to come.
    bool take(const carried_message& message, mailbox& from);
    [[nodiscard]] client* find(const carried_message& message);
    void fail_all(int rank) noexcept;

    std::shared_ptr<driver_link> link_;
    device_group devices_;
    int first_;
    int tag_; ///< of messages; that of bytes follows it
    std::map<std::uint64_t, client*> clients_;
    std::uint64_t last_place_ = 0;
    std::vector<std::shared_ptr<mailbox>> mailboxes_; ///< [drivers], null for this one
    std::vector<std::uint64_t> posted_;               ///< [drivers]
    std::vector<pending_send> sent_;                  ///< those under way first
    std::size_t under_way_ = 0;
    std::map<device*, std::unique_ptr<side_queue>> side_queues_; ///< of GPUs
    std::atomic<std::thread::id> owner_;
    std::exception_ptr failure_; ///< null: all is well
    bool ending_ = false;        ///< end_posting()
};

} // namespace krylith
