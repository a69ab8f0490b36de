// Where memory of other processes' ranks is for this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/exported/memory_exporter.hpp>

namespace krylith {

/// Turns addresses that ranks have into those by which local devices reach the same memory. Pieces
/// of memory are mapped when an address in them comes for the first time, and unmapped when their
/// device has given them back.
class peer_mappings {
public:
    /// Gives bytes to all drivers and returns those of each.
    using gather = std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte>)>;

    /// `devices` are those of driver `driver`, of which `first` is the first rank. Memory that they
    /// allocate from now on can be mapped. `near`, [drivers], are those whose addresses are good
    /// here, too.
    peer_mappings(device_group devices, std::size_t driver, int first, std::vector<bool> near);
    peer_mappings(const peer_mappings&) = delete;
    peer_mappings& operator=(const peer_mappings&) = delete;
    ~peer_mappings();

    /// Addresses, of which local entries are right, become those of all, null where they are null.
    /// Entry i is of rank ranks[i]; the ranks ascend. Collective. Throws usage_error for memory
    /// that can't be mapped. When this is destroyed no device may use what is mapped any more.
    void reach(std::span<std::byte*> addresses, std::span<const int> ranks, const gather& all);

private:
    struct mapped {
        exported_piece piece;
        bool near = false;
        std::byte* at = nullptr; ///< null: not mapped yet
    };
    [[nodiscard]] device& device_of(int rank) const { return devices_[rank - first_]; }
    [[nodiscard]] bool is_local(int rank) const {
        return rank >= first_ && rank < first_ + devices_.size();
    }
    void take(std::span<const std::byte> told, std::size_t driver);
    void unmap(const mapped& of) noexcept;
    [[nodiscard]] std::byte* mapped_piece(int rank, std::uint64_t id);

    device_group devices_;
    std::size_t driver_;
    int first_;
    std::vector<bool> near_;
    std::set<std::pair<int, std::uint64_t>> told_;           ///< pieces of local ranks
    std::map<std::pair<int, std::uint64_t>, mapped> pieces_; ///< of others, by rank and id
};

} // namespace krylith
