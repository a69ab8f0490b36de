// Who has to send what so that ranks get the ghosts of their local columns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/item_tasks.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// Where the owner's kernels or the receiver's need the list of ghosts.
enum class ghost_lists {
    packers, ///< with the packers
    owners   ///< with the owners: what travels goes to them
};

/// The ghosts of one rank that another owns: they are neighbours among its local columns. Where the
/// receiver's kernels can read the owner's memory, they fetch the items; elsewhere the owner packs
/// them, and a copy takes them along.
struct ghost_message {
    int owner = 0;
    int receiver = 0;
    std::int64_t first = 0; ///< the first one's local number at the receiver
    std::int64_t count = 0;
    bool staged = false;
    /// Has the ghosts among others; null where another driver has it.
    std::shared_ptr<const buffer<std::int32_t>> list;
    std::int64_t begin = 0;                           ///< the place of the first one there
    std::int32_t first_of_owner = 0;                  ///< the owner's first column
    bool copied = false;                              ///< whether the list is of this message alone

    [[nodiscard]] int packer() const noexcept { return staged ? owner : receiver; }
    /// The ghosts, counted from the owner's first column.
    [[nodiscard]] listed_rows places() const noexcept {
        return {list->data() + begin, first_of_owner};
    }
    /// The bytes that the message keeps on the device that has the list.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return copied && list != nullptr ? list->size() * sizeof(std::int32_t) : 0;
    }
};

/// Returns the messages of all ranks, ordered by receiver, then by owner. `columns[rank]` are those of the rank;
/// all their owned ranges together are a partition. A list that the receiver needs is the one of
/// its local columns. One that the owner needs is copied, 4 bytes a ghost; what the owner enqueues
/// after this sees it. Collective.
[[nodiscard]] std::vector<ghost_message>
make_ghost_messages(const communicator& comm, std::span<const local_columns> columns,
                    ghost_lists lists = ghost_lists::packers);

} // namespace krylith
