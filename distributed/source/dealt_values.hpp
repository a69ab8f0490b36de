// Which entries of a matrix the blocks of an operator have, and how values get there: from host
// memory, or from the devices that have the rows. Blocks of operators that cut the matrix otherwise
// than by owned rows have entries of several devices.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/nonzero/entry_list.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// An array over the devices: of[r] has that of entries [first[r], first[r + 1]) in memory of
/// device r.
template <class V>
struct array_over_group {
    std::span<const V* const> of;
    std::span<const std::int64_t> first;
};

/// Entries that a device is to get.
struct wanted_entries {
    int rank;
    const entry_list* entries;
};

/// Entries on a device: part of its own array, or copies.
template <class V>
struct brought_entries {
    const V* data = nullptr;
    buffer<V> copies = {}; ///< empty where `data` is part of the device's own array
};

/// Brings entries to devices, [wanted]. Stream-ordered where they are ranges; entries by number go
/// through host memory. `item` is that of the copies' memory.
template <class V>
[[nodiscard]] std::vector<brought_entries<V>>
bring_entries(const communicator& comm, const array_over_group<V>& from,
              std::span<const wanted_entries> wanted, const std::string& item);

/// The blocks of an operator with the entries that they have.
template <class T>
class dealt_values {
public:
    /// The block must live for as long as this is used.
    void add(int rank, device_matrix<T>& block, entry_list entries);
    void clear() { blocks_.clear(); }

    /// Gives new values, all in the order of the matrix in host memory, to the blocks.
    void bring(const communicator& comm, std::span<const T> all) const;
    /// Gives new values that lie on the devices to them. Stream-ordered as bring_entries().
    void bring(const communicator& comm, const array_over_group<T>& from) const;

private:
    struct block_entries {
        int rank;
        device_matrix<T>* block;
        entry_list entries;
    };
    std::vector<block_entries> blocks_;
};

} // namespace krylith
