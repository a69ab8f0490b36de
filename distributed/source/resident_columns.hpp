// What a CUDA device finds out about the columns of its rows: whether they are valid, which of them
// other devices own, and their local numbers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/halo/index_map.hpp>

namespace krylith {

/// A set of columns of [0, n) as a bitmap on a device, with the number of members below each word.
/// 4 + 4 bytes for 32 columns.
struct resident_set {
    buffer<std::uint32_t> words;
    buffer<std::int32_t> below;
};

/// The rows of a device in CSR there, with global columns.
struct resident_csr {
    const std::int64_t* offsets; ///< [rows + 1] from 0
    const std::int32_t* columns;
    std::int64_t rows;
    std::int64_t nonzeros;
};

namespace cuda {

/// Returns whether a column is below 0, or not below `all`. Waits for the device.
[[nodiscard]] bool has_bad_column(const std::shared_ptr<device>& device,
                                  const std::int32_t* columns, std::int64_t count,
                                  std::int64_t all);

/// Writes for each row 1 if it has a column that is not owned, else 0, and puts these columns of
/// [0, all) into `ghosts`, with those that it has, unless that is null. Returns the number of rows
/// that have none. Waits for the device.
[[nodiscard]] std::int64_t find_ghosts(const std::shared_ptr<device>& device,
                                       const resident_csr& matrix, row_range owned,
                                       std::int64_t all, resident_set* ghosts,
                                       std::uint8_t* touches_ghost);

/// Counts the members below each word, and lists them all, ascending. Waits for their number.
[[nodiscard]] buffer<std::int64_t> list_members(const std::shared_ptr<device>& device,
                                                resident_set& set);
/// Enqueues the same into `listed`, which has room for them, and their number into `total`.
void list_members(const std::shared_ptr<device>& device, resident_set& set, std::int64_t* total,
                  std::int64_t* listed);

/// Downloads the first columns, at most `most`, of each of these rows and of the one after it.
[[nodiscard]] std::vector<std::array<std::vector<std::int32_t>, 2>>
first_columns(const std::shared_ptr<device>& device, const resident_csr& matrix,
              std::span<const std::int64_t> rows, std::int64_t most);

/// Enqueues the local numbers of columns, of which the set has the ghosts, listed.
void localize(device& device, const std::int32_t* columns, std::int64_t count,
              const local_indices& indices, const resident_set& ghosts, std::int32_t* local);

} // namespace cuda

} // namespace krylith
