// What an execution keeps in the memory of each device, and the kernel context that points there.
#pragma once

#include <memory>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/execution/loop_board_memory.hpp>
#include <krylith/vector/execution/posted_sums.hpp>

namespace krylith {

/// All memory is zero at first. Peers store stamped values into it: all drivers wait
/// for all devices before any kernel runs, and each calls quiesce() before it is freed.
struct rank_memory {
    rank_memory(const communicator& comm, int rank, const execution_options& options);

    /// The partial sums of one half, 0 or 1.
    [[nodiscard]] double* partials_of(int half) const {
        return partials.data() + partials.size() / 2 * static_cast<std::size_t>(half) +
               partials_header;
    }

    buffer<double> slots;
    buffer<double> array;
    buffer<double> history; // of the first local rank
    buffer<loop_watch> watch;
    buffer<double> partials; // two halves, each a header and the partial sums of a batch
    buffer<stamped_value> own_slots;
    std::vector<buffer<stamped_value>> staging; // [ranks], empty where the path is direct
    buffer<stamped_value*> peer_slots;          // connect() makes these two
    buffer<std::uint64_t> published;
    buffer<unsigned> signals;
    buffer<std::int32_t> failure;
    buffer<std::int32_t*> failures;
    std::unique_ptr<loop_board_memory> board; // of the first local rank, where a launch
                                              // has been watched
    std::unique_ptr<posted_words> posts;
    std::unique_ptr<loop_graph> loop; // the last member: its destructor waits for the device
};

using group_memory = std::vector<std::unique_ptr<rank_memory>>; // [ranks]

/// Where the ranks write for each other, [ranks], as local devices reach them.
struct peer_memory {
    std::vector<stamped_value*> slots;
    std::vector<std::int32_t*> failures;
};

/// Gathers these addresses from all drivers; those behind posted paths are null.
[[nodiscard]] peer_memory addresses_of(const communicator& comm, const group_memory& memory);

/// Makes what carries sums by posted paths; null where there are none. Collective.
[[nodiscard]] std::unique_ptr<posted_sums> make_posted_sums(const communicator& comm,
                                                            const execution_options& options);

/// Gives a rank the addresses of its peers' memory, once all of it is allocated. Returns the rank's
/// kernel context, with no program and nothing to wait for.
[[nodiscard]] kernel_context connect(const communicator& comm, rank_memory& memory,
                                     const peer_memory& peers, posted_sums* posted, int rank,
                                     const execution_options& options);

} // namespace krylith
