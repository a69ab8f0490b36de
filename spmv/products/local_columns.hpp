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
    std::int64_t first_owned = 0;         ///< global
    std::int32_t below = 0;               ///< ghosts with lower numbers than the owned columns
    std::int32_t owned = 0;
    const std::int32_t* ghosts = nullptr; ///< global, ascending

    [[nodiscard]] KRYLITH_HD bool owns(std::int32_t local) const {
        return local >= below && local < below + owned;
    }
    [[nodiscard]] KRYLITH_HD std::int32_t global(std::int32_t local) const {
        if (local < below) return ghosts[local];
        if (local < below + owned) return static_cast<std::int32_t>(first_owned) + local - below;
        return ghosts[local - owned];
    }
};

/// Local columns are numbered in the order of their global numbers: ghosts below the owned columns,
/// all owned columns, ghosts above them. A ghost is a column of another rank that an entry refers
/// to.
class local_columns {
public:
    local_columns() = default;
    /// Uploads `ghosts`, which ascend and are outside of `owned`.
    local_columns(std::shared_ptr<device> device, row_range owned,
                  std::vector<std::int32_t> ghosts);

    [[nodiscard]] const row_range& owned() const noexcept { return owned_; }
    [[nodiscard]] const std::vector<std::int32_t>& ghosts() const noexcept { return ghosts_; }
    /// The number of local columns.
    [[nodiscard]] std::int64_t count() const noexcept {
        return owned_.size() + static_cast<std::int64_t>(ghosts_.size());
    }
    /// The local number of the first owned column.
    [[nodiscard]] std::int64_t first_owned() const noexcept { return below_; }
    /// For kernels of the rank's device.
    [[nodiscard]] column_numbers numbers() const noexcept {
        return {owned_.begin, static_cast<std::int32_t>(below_),
                static_cast<std::int32_t>(owned_.size()), resident_.data()};
    }

private:
    row_range owned_;
    std::vector<std::int32_t> ghosts_;
    std::int64_t below_ = 0;
    buffer<std::int32_t> resident_;
};

} // namespace krylith
