// What a process takes of its machine, where several processes of a link share it.
#pragma once

#include <vector>

#include <krylith/comm/driver_link.hpp>

namespace krylith {

/// The share of one of the processes of a machine: cores are dealt out equally, GPUs in turn.
struct machine_share {
    int number = 0;    ///< of this process among those of its machine, from 0
    int processes = 1; ///< of the machine

    /// The threads of this process. Launchers that bind a process to cores have dealt them out
    /// already.
    [[nodiscard]] int threads() const;
    /// Ordinals of `count` GPUs, where each process of the machine takes so many: they begin from
    /// the first again where there are too few.
    [[nodiscard]] std::vector<int> gpus(int count) const;
};

/// Finds the share of this driver, where drivers are processes. Collective.
[[nodiscard]] machine_share find_machine_share(driver_link& link);

} // namespace krylith
