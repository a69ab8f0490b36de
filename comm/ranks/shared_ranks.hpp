// What a communicator of several drivers knows of all ranks, and what processes have of each
// other's memory.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/processes/peer_mappings.hpp>
#include <krylith/comm/processes/peer_marks.hpp>

namespace krylith {

/// Where a GPU is plugged in; 0 of host devices.
using device_place = std::array<char, 16>;

struct communicator::shared_ranks {
    std::vector<int> begin;       ///< [drivers + 1] the first rank of each
    bool staged = false;          ///< whether a driver has asked for staged copies
    bool posted = false;          ///< whether all paths between drivers are
    bool any_posted = false;      ///< whether there is one between its ranks
    std::vector<int> numbers;     ///< [ranks] among all that the drivers have
    std::vector<peer_path> paths; ///< [from * ranks + to]
    std::vector<device_place> devices;
    std::vector<int> ordinals; ///< of this driver for the devices; -1: it doesn't see them
    std::vector<std::vector<char>> descriptions;
    std::string serialised_because;

    [[nodiscard]] int ranks() const { return begin.back(); }
    [[nodiscard]] bool any_staged() const {
        return std::ranges::count(paths, peer_path::staged) != 0;
    }
    void find_posted() { any_posted = std::ranges::count(paths, peer_path::posted) != 0; }
    [[nodiscard]] bool repeats(backend kind) const {
        return kind == backend::cuda &&
               std::set(devices.begin(), devices.end()).size() != devices.size();
    }
};

/// What drivers of several processes have of each other's memory, for a communicator and all that
/// are made of its ranks.
struct communicator::process_memory {
    process_memory(const communicator& comm, std::vector<bool> near)
        : agreed(comm.agreement_),
          devices(comm.devices_),
          mappings(comm.devices_, comm.agreement_->driver(), comm.first_, std::move(near)),
          marks(comm.devices_, comm.first_, comm.ranks(), comm.agreement_->timeout_seconds(),
                comm.agreement_->words()) {}
    process_memory(const process_memory&) = delete;
    process_memory& operator=(const process_memory&) = delete;
    ~process_memory() {
        agreed->abandon_waits();
        try {
            devices.synchronize(); // they use what is mapped
        } catch (...) {            // NOLINT(bugprone-empty-catch): a failure is reported elsewhere
        }
    }

    std::shared_ptr<agreement> agreed;
    device_group devices;
    peer_mappings mappings;
    peer_marks marks;
};

} // namespace krylith
