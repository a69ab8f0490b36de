// The columns that the rows of one rank refer to, and their local numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The global numbers of local columns, for kernels.
struct column_numbers {
    std::int64_t first_owned = 0; ///< global
    std::int32_t below = 0;       ///< ghosts with lower numbers than the owned columns
    std::int32_t owned = 0;
    std::int32_t ghost_count = 0;
    const std::int32_t* ghosts = nullptr; ///< global, ascending

    [[nodiscard]] KRYLITH_HD bool owns(std::int32_t local) const {
        return local >= below && local < below + owned;
    }
    [[nodiscard]] KRYLITH_HD std::int32_t global(std::int32_t local) const {
        if (local < below) return ghosts[local];
        if (local < below + owned) return static_cast<std::int32_t>(first_owned) + local - below;
        return ghosts[local - owned];
    }
    /// The local number of a global column that is owned or a ghost. O(log ghosts) for ghosts.
    [[nodiscard]] KRYLITH_HD std::int32_t local(std::int32_t global) const {
        const std::int64_t from_owned = std::int64_t{global} - first_owned;
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

/// Local columns are numbered in the order of their global numbers: ghosts below the owned columns,
/// all owned columns, ghosts above them. A ghost is a column of another rank that an entry may
/// refer to. Where one rank has all columns, local numbers are global ones. Copies are cheap: they
/// share the list.
class local_columns {
public:
    local_columns() = default;
    /// Uploads `ghosts`, which ascend and are outside of `owned`.
    local_columns(const std::shared_ptr<device>& device, row_range owned,
                  std::vector<std::int32_t> ghosts);
    /// Takes ghosts that lie on the device as well.
    local_columns(row_range owned, std::vector<std::int32_t> ghosts, buffer<std::int32_t> resident);

    [[nodiscard]] const row_range& owned() const noexcept { return owned_; }
    [[nodiscard]] const std::vector<std::int32_t>& ghosts() const noexcept;
    /// The number of local columns.
    [[nodiscard]] std::int64_t count() const noexcept {
        return owned_.size() + static_cast<std::int64_t>(ghosts().size());
    }
    /// The local number of the first owned column: the number of ghosts below the owned columns.
    [[nodiscard]] std::int64_t first_owned() const noexcept { return below_; }
    /// For kernels of the rank's device.
    [[nodiscard]] column_numbers numbers() const noexcept;
    /// The ghosts on the rank's device; null where there are none.
    [[nodiscard]] const std::shared_ptr<const buffer<std::int32_t>>&
    resident_ghosts() const noexcept {
        return resident_;
    }
    /// The bytes on the device: 4 a ghost.
    [[nodiscard]] std::int64_t bytes() const noexcept {
        return static_cast<std::int64_t>(ghosts().size() * sizeof(std::int32_t));
    }

private:
    row_range owned_;
    std::int64_t below_ = 0;
    std::shared_ptr<const std::vector<std::int32_t>> ghosts_; ///< null: none
    std::shared_ptr<const buffer<std::int32_t>> resident_;    ///< null: none
};

} // namespace krylith
