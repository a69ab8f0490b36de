// Blocks of memory that travel between devices beside the devices' streams, while these work on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <krylith/comm/communicator.hpp>

namespace krylith {

/// A block that goes from memory of rank `from` to that of rank `to`, another one.
struct block_message {
    int from;
    const void* source;
    int to;
    void* target;
    std::size_t bytes;
};

/// An exchange of blocks. The host never waits, and nothing here can be part of a recorded loop.
class block_exchange {
public:
    virtual ~block_exchange() = default;

    /// Sends each message once what was enqueued on its sender so far is done. The caller must make
    /// sure that nobody uses the targets any more (communicator::join).
    virtual void send(std::span<const block_message> messages) = 0;

    /// Makes what is enqueued on a device after this run after all messages that it sends or
    /// receives.
    virtual void finish() = 0;
};

/// Makes an exchange by copy engines: a queue for each ordered pair of devices, so that copies to
/// different peers don't wait for each other. Peer access is not needed.
[[nodiscard]] std::unique_ptr<block_exchange> make_copy_exchange(const communicator& comm);

/// Returns whether this krylith was built with NCCL.
[[nodiscard]] bool nccl_built_in() noexcept;

/// Throws usage_error where this krylith was built without NCCL, for host devices, where one GPU
/// stands for several, and where this machine has no NCCL.
void require_nccl(const communicator& comm);

/// Makes an exchange by grouped ncclSend and ncclRecv, in a stream a device. Its communicators take
/// about a second to make. Throws as require_nccl; device_error where NCCL fails.
[[nodiscard]] std::unique_ptr<block_exchange> make_nccl_exchange(const communicator& comm);

} // namespace krylith
