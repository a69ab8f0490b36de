// The bytes of a matrix copied to devices without being looked at: what any set-up can't beat.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <krylith/bench/common/workload.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/numa.hpp>
#include <krylith/device/transport/transfers.hpp>

namespace krylith::bench {

/// Room on the devices for equal parts of the three CSR arrays of a workload, and the copies.
class bare_copy {
public:
    /// `pinned` copies come from pinned memory, into which the arrays are copied here.
    bare_copy(const device_group& group, const workload& w, bool pinned);

    /// The bytes of one copy: 8 (n + 1) + 12 nnz.
    [[nodiscard]] double bytes() const;
    /// Copies all, and waits until it has arrived. Returns the seconds.
    [[nodiscard]] double run() const;

private:
    void add(const void* from, std::size_t bytes);

    device_group group_;
    bool pinned_;
    numa_topology nodes_;
    std::vector<node_memory> memory_;
    std::vector<buffer<std::byte>> room_;
    std::vector<upload_request> requests_;
};

} // namespace krylith::bench
