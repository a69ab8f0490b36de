// Copies of what the owners of columns have to the ranks where these columns are ghosts, while
// matrices are made: nothing here is for the loops of solvers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/ghost_messages.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// The exchange of the ghosts of a set of local columns, whose lists it uses. Set-up costs
/// O(ranks^2 log(ghosts)) on the host; where copies are staged, lists are copied to the owners and
/// take 12 bytes a ghost. On one rank there is nothing to do. Move-only.
class column_exchange {
public:
    column_exchange() = default;
    /// `columns[rank]` are those of the rank; all their owned ranges together are a partition.
    /// Collective, as the functions that fill.
    column_exchange(const communicator& comm, std::span<const local_columns> columns);

    /// arrays[rank] has columns[rank].count() values, of which the owned ones are right; the others
    /// become copies of their owners'. Enqueued on the devices: what they enqueued before comes
    /// before it, and what they enqueue after it sees all. Works on any group, without peer access
    /// by staged copies. V is uint64_t, int32_t, uint8_t, float or double. Throws usage_error for
    /// another number of arrays than ranks.
    template <class V>
    void fill(std::span<V* const> arrays) const;
    /// The same where owners write the arrays again only after the next call of fill() or
    /// fill_in_turn(), which then orders this: rounds that fill two arrays in turn have half the
    /// waits of one device for another. Copies that are staged are ordered as by fill(). The arrays
    /// must not be freed before the devices are done or joined. V is int32_t, float or double.
    template <class V>
    void fill_in_turn(std::span<V* const> arrays) const;

    /// What travels.
    [[nodiscard]] std::span<const ghost_message> messages() const noexcept { return messages_; }
    /// The bytes on the devices, all of them together.
    [[nodiscard]] std::int64_t bytes() const noexcept;

private:
    template <class V>
    void fetch(std::span<V* const> arrays) const;

    std::shared_ptr<const communicator> comm_; ///< null: empty
    std::vector<std::int64_t> first_owned_;    ///< local numbers
    bool staged_ = false;                      ///< whether a message is
    std::vector<ghost_message> messages_;
    std::vector<rank_order> orders_;            ///< both ways between ranks with a message
    std::vector<buffer<std::uint64_t>> packed_; ///< of staged messages, on the owners
};

} // namespace krylith
