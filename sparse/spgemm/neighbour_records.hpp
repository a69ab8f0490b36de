// What the symbolic phase keeps of eight neighbouring rows, for the numeric one.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::cuda {

/// The limits of eight rows that are taken together.
struct neighbour_limits {
    static constexpr int rows = 8;          ///< of A
    static constexpr int entries = 256;     ///< of these
    static constexpr int referred = 128;    ///< rows of B that they refer to
    static constexpr int ranks = 768;       ///< entries of these
    static constexpr int columns = 64;      ///< of C: so long is a row of B at most
    static constexpr int lanes = 32 / rows; ///< of a row
    /// A and B have fewer entries than this.
    static constexpr std::int64_t all_entries = std::int64_t{1} << 32;
};

/// The beginning of a record. Behind it lie, each padded to 4 bytes: the columns of the eight rows,
/// ascending, 4 bytes each; the numbers of the referred rows of B, 4 bytes each; their lengths, a
/// byte each; the place of each entry of A among these rows, a byte; and the rank of each of their
/// entries among the columns, a byte.
struct alignas(16) neighbour_record {
    std::uint16_t referred; ///< 0: there is no record
    std::uint16_t entries;
    std::uint16_t ranks;
    std::uint16_t columns;
    std::uint64_t masks[neighbour_limits::rows]; ///< the ranks that each row of C has, a bit each

    [[nodiscard]] KRYLITH_HD static constexpr int padded(int bytes) noexcept {
        return (bytes + 3) / 4 * 4;
    }
    [[nodiscard]] KRYLITH_HD static constexpr int bytes_of(int columns, int referred, int entries,
                                                           int ranks) noexcept {
        const int bytes = static_cast<int>(sizeof(neighbour_record)) + 4 * (columns + referred) +
                          padded(referred) + padded(entries) + padded(ranks);
        return (bytes + 15) / 16 * 16;
    }

    /// Where the arrays begin, in words of 4 bytes from those of the first.
    [[nodiscard]] KRYLITH_HD std::uint32_t* words() noexcept {
        return reinterpret_cast<std::uint32_t*>(this + 1);
    }
    [[nodiscard]] KRYLITH_HD const std::uint32_t* words() const noexcept {
        return reinterpret_cast<const std::uint32_t*>(this + 1);
    }
    [[nodiscard]] KRYLITH_HD int referred_at() const noexcept { return columns; }
    [[nodiscard]] KRYLITH_HD int lengths_at() const noexcept { return referred_at() + referred; }
    [[nodiscard]] KRYLITH_HD int numbers_at() const noexcept {
        return lengths_at() + padded(referred) / 4;
    }
    [[nodiscard]] KRYLITH_HD int ranks_at() const noexcept {
        return numbers_at() + padded(entries) / 4;
    }
};

/// The most bytes of a record.
inline constexpr int most_record_bytes =
    neighbour_record::bytes_of(neighbour_limits::columns, neighbour_limits::referred,
                               neighbour_limits::entries, neighbour_limits::ranks);

/// Records of groups of eight rows of a list, `stride` bytes from one to the next.
struct record_array {
    std::byte* records;
    std::int64_t stride;

    [[nodiscard]] KRYLITH_HD neighbour_record& of(std::int64_t group) const {
        return *reinterpret_cast<neighbour_record*>(records + group * stride);
    }
};

/// The rows that are added up in groups, where there are any.
struct neighbour_groups {
    buffer<std::int32_t> lists; ///< what `rows` points to
    row_list rows{nullptr, 0};
    buffer<std::byte> records;
    std::int64_t stride = 0;

    [[nodiscard]] std::int64_t count() const noexcept {
        return (rows.count + neighbour_limits::rows - 1) / neighbour_limits::rows;
    }
    [[nodiscard]] record_array array() const noexcept { return {records.data(), stride}; }
    [[nodiscard]] std::int64_t bytes() const noexcept {
        return static_cast<std::int64_t>(records.size() + lists.size() * sizeof(std::int32_t));
    }
};

} // namespace krylith::cuda
