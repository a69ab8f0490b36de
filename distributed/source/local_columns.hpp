// The columns that the rows of one rank refer to, with what kernels need to know of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/halo/index_map.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The global numbers of local columns, for kernels.
struct column_numbers {
    std::int64_t first_owned = 0; ///< global
    std::int32_t below = 0;       ///< ghosts with lower numbers than the owned columns
    std::int32_t owned = 0;
    std::int32_t ghost_count = 0;
    const std::int64_t* ghosts = nullptr; ///< global, ascending

    [[nodiscard]] KRYLITH_HD bool owns(std::int32_t local) const {
        return local >= below && local < below + owned;
    }
    [[nodiscard]] KRYLITH_HD std::int64_t global(std::int32_t local) const {
        if (local < below) return ghosts[local];
        if (local < below + owned) return first_owned + local - below;
        return ghosts[local - owned];
    }
    /// The local number of a global column that is owned or a ghost. O(log ghosts) for ghosts.
    [[nodiscard]] KRYLITH_HD std::int32_t local(std::int64_t global) const {
        const std::int64_t from_owned = global - first_owned;
        if (from_owned >= 0 && from_owned < owned)
            return below + static_cast<std::int32_t>(from_owned);
        std::int32_t begin = from_owned < 0 ? 0 : below;
        std::int32_t end = from_owned < 0 ? below : ghost_count;
        while (end - begin > 1) {
            const std::int32_t middle = begin + (end - begin) / 2;
            (ghosts[middle] <= global ? begin : end) = middle;
        }
        return from_owned < 0 ? begin : begin + owned;
    }
};

/// The local indices of a rank whose list of ghosts is in memory of its device, too.
/// Copies are cheap: they share the lists.
class local_columns : public local_indices {
public:
    local_columns() = default;
    /// Uploads `ghosts`, which ascend and are outside of `owned`.
    local_columns(const std::shared_ptr<device>& device, row_range owned,
                  std::vector<std::int64_t> ghosts);
    /// Takes ghosts that lie on the device as well.
    local_columns(row_range owned, std::vector<std::int64_t> ghosts, buffer<std::int64_t> resident);

    /// For kernels of the rank's device.
    [[nodiscard]] column_numbers numbers() const noexcept;
    /// The ghosts on the rank's device; null where there are none.
    [[nodiscard]] const std::shared_ptr<const buffer<std::int64_t>>&
    resident_ghosts() const noexcept {
        return resident_;
    }
    /// The bytes on the device: 8 a ghost.
    [[nodiscard]] std::int64_t bytes() const noexcept {
        return ghost_count() * static_cast<std::int64_t>(sizeof(std::int64_t));
    }

private:
    std::shared_ptr<const buffer<std::int64_t>> resident_; ///< null: none
};

/// The map of all ranks' columns, of which each driver has those of its local ranks. Collective.
[[nodiscard]] index_map map_of(const communicator& comm, row_partition owners,
                               std::span<const local_columns> columns);

} // namespace krylith
