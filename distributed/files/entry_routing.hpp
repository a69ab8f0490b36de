// What drivers read of a file and others own, on its way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/market/memory_limit.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::detail {

/// The items that a driver sends at a time: more where there would be more messages than these.
inline constexpr std::int64_t items_a_message = std::int64_t{1} << 17;
inline constexpr std::int64_t most_messages = 32;

/// The rows of the local ranks; none where there are none.
[[nodiscard]] row_range local_rows(const communicator& comm, const row_partition& rows);

/// The sum of what all drivers say. Collective.
[[nodiscard]] std::int64_t sum_of_drivers(const communicator& comm, std::int64_t here);
/// What the drivers before this one say, added up. Collective.
[[nodiscard]] std::int64_t sum_before(const communicator& comm, std::int64_t here);

/// The bytes of so many entries of a coo_matrix.
template <class T>
[[nodiscard]] double coo_bytes(std::int64_t entries) {
    return static_cast<double>(2 * sizeof(std::int32_t) + sizeof(T)) * static_cast<double>(entries);
}

/// Which entries to send.
enum class entry_side {
    as_given, ///< each to the owner of its row
    mirrored  ///< those off the diagonal with row and column exchanged
};

/// Cuts the rows so that ranks get about as many entries each; 128 KiB a rank. Collective.
[[nodiscard]] row_partition cut_by_entries(const communicator& comm, std::int64_t rows,
                                           std::span<const std::int32_t> row_indices,
                                           std::span<const std::int32_t> more_row_indices);

/// Gives each entry to the driver that owns its row. Entries of one row come in the order of the
/// drivers that had them, and of each as it had them. Rows of the result count from the first local
/// one. Collective; beside the result it takes some 48 bytes for each entry of a message. Throws
/// input_error where the limit has no room for the result, with `held` bytes beside the entries.
template <class T>
[[nodiscard]] coo_matrix<T> route_entries(const communicator& comm, const coo_matrix<T>& entries,
                                          const row_partition& rows, entry_side side,
                                          const market::memory_limit& limit, double held = 0);

/// Gives each row to the driver that is to own it, and cuts off nothing. Collective.
template <class T>
[[nodiscard]] csr_matrix<T> move_rows(const communicator& comm, csr_matrix<T> mine,
                                      const row_partition& from, const row_partition& to);

/// Cuts rows of which drivers have those of `from` as partition_rows() would cut the whole matrix.
/// Collective: some 3 log2(rows) exchanges of a number a rank.
template <class T>
[[nodiscard]] row_partition cut_rows(const communicator& comm, const csr_matrix<T>& mine,
                                     const row_partition& from, int block_size);

} // namespace krylith::detail
