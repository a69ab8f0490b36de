// The contract of a halo plan, written as plainly as possible: the builder is tested by it.
#include <krylith/partition/halo/halo_plan.hpp>

#include <krylith/device/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace krylith {
namespace {

using std::to_string;

[[noreturn]] void refuse_halo(int rank, const std::string& what) {
    throw usage_error("halo_plan: rank " + to_string(rank) + ": " + what);
}

const local_halo& part_of(const halo_plan& plan, int rank) {
    return plan.local[static_cast<std::size_t>(rank)];
}

std::int64_t size_of(const auto& values) {
    return static_cast<std::int64_t>(values.size());
}

// A peer is another rank, and each is named once, in ascending order.
void check_peer(const halo_plan& plan, int rank, const char* kind, int previous, int peer) {
    if (peer < 0 || peer >= plan.columns.ranks() || peer == rank) {
        refuse_halo(rank, std::string(kind) + " names peer " + to_string(peer) +
                              ", must be another rank, 0 or more and below " +
                              to_string(plan.columns.ranks()));
    }
    if (peer <= previous) {
        refuse_halo(rank, std::string(kind) + " names peer " + to_string(peer) + " after " +
                              to_string(previous) + ", peers must ascend");
    }
}

void check_ghosts(const halo_plan& plan, int rank) {
    const auto& ghosts = part_of(plan, rank).ghosts;
    const row_range owned = plan.columns.owned(rank);
    for (std::size_t k = 0; k < ghosts.size(); ++k) {
        if (ghosts[k] < 0 || ghosts[k] >= plan.columns.rows()) {
            refuse_halo(rank, "ghost " + to_string(ghosts[k]) + ", must be 0 or more and below " +
                                  to_string(plan.columns.rows()));
        }
        if (owned.contains(ghosts[k])) {
            refuse_halo(rank, "ghost " + to_string(ghosts[k]) + " is owned by the rank itself");
        }
        if (k > 0 && ghosts[k] <= ghosts[k - 1]) {
            refuse_halo(rank, "ghost " + to_string(ghosts[k]) + " after " +
                                  to_string(ghosts[k - 1]) + ", ghosts must ascend");
        }
    }
}

void check_receives(const halo_plan& plan, int rank) {
    const local_halo& mine = part_of(plan, rank);
    std::int64_t covered = 0;
    int previous = -1;
    for (const halo_receive& receive : mine.receives) {
        check_peer(plan, rank, "a receive", previous, receive.peer);
        previous = receive.peer;
        if (receive.first != covered || receive.count < 1 ||
            receive.count > size_of(mine.ghosts) - covered) {
            refuse_halo(rank, "the receive from " + to_string(receive.peer) + " takes " +
                                  to_string(receive.count) + " ghosts from position " +
                                  to_string(receive.first) + ", must start at " +
                                  to_string(covered) + " and take 1 to " +
                                  to_string(size_of(mine.ghosts) - covered));
        }
        const row_range owned_by_peer = plan.columns.owned(receive.peer);
        for (; covered < receive.first + receive.count; ++covered) {
            const std::int64_t ghost = mine.ghosts[static_cast<std::size_t>(covered)];
            if (!owned_by_peer.contains(ghost)) {
                refuse_halo(rank, "ghost " + to_string(ghost) + " is received from " +
                                      to_string(receive.peer) + ", its owner is " +
                                      to_string(plan.columns.owner(ghost)));
            }
        }
    }
    if (covered != size_of(mine.ghosts)) {
        refuse_halo(rank, "receives cover " + to_string(covered) + " ghosts, must cover " +
                              to_string(size_of(mine.ghosts)));
    }
}

// Ghosts are what the rows reference from elsewhere, no more and no less; rows are classified.
void check_references(const halo_plan& plan, int rank, std::span<const std::int64_t> row_offsets,
                      std::span<const std::int32_t> columns) {
    const local_halo& mine = part_of(plan, rank);
    const row_range rows = plan.rows.owned(rank);
    const row_range owned = plan.columns.owned(rank);
    if (size_of(mine.touches_ghost) != rows.size()) {
        refuse_halo(rank, "touches_ghost has " + to_string(mine.touches_ghost.size()) +
                              " entries, must have one for each of " + to_string(rows.size()) +
                              " rows");
    }
    std::vector<bool> referenced(mine.ghosts.size());
    std::int64_t interior_rows = 0;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const auto i = static_cast<std::size_t>(row);
        bool touches = false;
        for (std::int64_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
            const std::int64_t column = columns[static_cast<std::size_t>(k)];
            if (owned.contains(column)) {
                continue;
            }
            const auto ghost = std::ranges::lower_bound(mine.ghosts, column);
            if (ghost == mine.ghosts.end() || *ghost != column) {
                refuse_halo(rank, "row " + to_string(row) + " references column " +
                                      to_string(column) + ", which is neither owned nor a ghost");
            }
            referenced[static_cast<std::size_t>(ghost - mine.ghosts.begin())] = true;
            touches = true;
        }
        const int found = mine.touches_ghost[static_cast<std::size_t>(row - rows.begin)];
        if (found != (touches ? 1 : 0)) {
            refuse_halo(rank, "touches_ghost of row " + to_string(row) + " is " + to_string(found) +
                                  ", must be " + to_string(touches ? 1 : 0));
        }
        interior_rows += touches ? 0 : 1;
    }
    const auto idle = std::ranges::find(referenced, false);
    if (idle != referenced.end()) {
        const auto k = static_cast<std::size_t>(idle - referenced.begin());
        refuse_halo(rank, "ghost " + to_string(mine.ghosts[k]) + " is referenced by no row");
    }
    if (mine.interior_rows != interior_rows) {
        refuse_halo(rank, "interior_rows is " + to_string(mine.interior_rows) + ", must be " +
                              to_string(interior_rows));
    }
}

// Every send is what its peer receives. The receives of all ranks must have been checked.
void check_sends(const halo_plan& plan, int rank) {
    const local_halo& mine = part_of(plan, rank);
    const std::int64_t begin = plan.columns.owned(rank).begin;
    int previous = -1;
    for (const halo_send& send : mine.sends) {
        check_peer(plan, rank, "a send", previous, send.peer);
        previous = send.peer;
        const local_halo& peer = part_of(plan, send.peer);
        const auto receive = std::ranges::find(peer.receives, rank, &halo_receive::peer);
        if (receive == peer.receives.end()) {
            refuse_halo(rank,
                        "sends to " + to_string(send.peer) + ", which receives nothing from it");
        }
        if (send.position != receive->first || size_of(send.rows) != receive->count) {
            refuse_halo(rank, "sends " + to_string(send.rows.size()) + " rows to " +
                                  to_string(send.peer) + " at position " +
                                  to_string(send.position) + ", which receives " +
                                  to_string(receive->count) + " at " + to_string(receive->first));
        }
        for (std::size_t k = 0; k < send.rows.size(); ++k) {
            const std::int64_t ghost = peer.ghosts[static_cast<std::size_t>(send.position) + k];
            if (begin + send.rows[k] != ghost) {
                refuse_halo(rank, "sends row " + to_string(begin + send.rows[k]) + " to " +
                                      to_string(send.peer) + ", which expects " + to_string(ghost));
            }
        }
    }
    for (const halo_receive& receive : mine.receives) {
        const auto& sends = part_of(plan, receive.peer).sends;
        if (std::ranges::find(sends, rank, &halo_send::peer) == sends.end()) {
            refuse_halo(rank,
                        "receives from " + to_string(receive.peer) + ", which sends nothing to it");
        }
    }
}

} // namespace

void check(const halo_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns) {
    if (row_offsets.empty()) {
        throw usage_error("halo_plan: row_offsets has 0 entries, must have rows + 1");
    }
    check(plan.rows, size_of(row_offsets) - 1);
    check(plan.columns, plan.columns.rows());
    const int ranks = plan.rows.ranks();
    if (plan.columns.ranks() != ranks) {
        throw usage_error("halo_plan: the partition of columns has " +
                          to_string(plan.columns.ranks()) + " ranks, that of rows " +
                          to_string(ranks) + ", they must have the same number");
    }
    if (size_of(plan.local) != ranks) {
        throw usage_error("halo_plan: describes " + to_string(plan.local.size()) +
                          " ranks, must describe the partition's " + to_string(ranks));
    }
    for (int rank = 0; rank < ranks; ++rank) {
        static_cast<void>(plan.local_size(rank)); // throws if it is too large
        check_ghosts(plan, rank);
        check_receives(plan, rank);
        check_references(plan, rank, row_offsets, columns);
    }
    for (int rank = 0; rank < ranks; ++rank) {
        check_sends(plan, rank);
    }
}

} // namespace krylith
