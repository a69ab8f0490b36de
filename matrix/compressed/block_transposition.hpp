// Transposition in two passes: entries go to blocks of columns first, then a counting sort of each
// block finds all it reads and writes in a core's cache. It is for large matrices whose columns are
// scattered, where each write of a single pass misses the caches, and for many more columns than
// entries, whose counters each thread would have for itself.
//
// It takes the place of MergeTrans (Wang, Liu, Hou, Feng, ICS 2016, section 4.2), which transposes
// blocks of rows and merges the results by pairs: on 2 cores that was never faster than the better
// of ScanTrans and this (docs/measured.md), as it moves all entries once more for each doubling.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/host/host_team.hpp>
#include <krylith/matrix/compressed/compressed_pattern.hpp>
#include <krylith/matrix/compressed/entry_parts.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>

namespace krylith {

/// Blocks of 2^bits columns, and where the entries of each begin.
class column_blocks {
public:
    /// Counts the entries of each block, with a thread for each of `parts` parts.
    column_blocks(const compressed_pattern& a, int parts);

    [[nodiscard]] int bits() const noexcept { return bits_; }
    [[nodiscard]] int blocks() const noexcept { return blocks_; }
    /// The first place of a block's entries; that of blocks() is the number of entries.
    [[nodiscard]] std::int64_t begin(int block) const noexcept {
        return begins_[static_cast<std::size_t>(block)];
    }
    /// The entries of the largest block, which one thread will sort.
    [[nodiscard]] std::int64_t largest() const noexcept;
    /// The first entry of a part, and where its first one of each block goes.
    [[nodiscard]] entry_place begin_of(int part) const noexcept {
        return parts_[static_cast<std::size_t>(part)];
    }
    [[nodiscard]] std::vector<std::int64_t> places_of(int part) const {
        const auto at = places_.begin() + std::int64_t{part} * blocks_;
        return {at, at + blocks_};
    }

private:
    int bits_ = 0;
    int blocks_ = 0;
    std::vector<entry_place> parts_;
    std::vector<std::int64_t> places_; ///< by part and block
    std::vector<std::int64_t> begins_; ///< [blocks + 1]
};

/// Sorts the entries of one block by column, stably, and puts them in order.
template <class Entry, class Put>
void put_block(const Entry* begin, const Entry* end, std::int64_t first_column,
               std::int64_t last_column, std::int64_t place, std::vector<std::int64_t>& next,
               std::span<std::int64_t> result_offsets, const Put& put) {
    std::fill(next.begin(), next.end(), 0);
    for (const Entry* e = begin; e < end; ++e)
        ++next[static_cast<std::size_t>(e->column - first_column)];
    for (std::int64_t column = first_column; column < last_column; ++column) {
        std::int64_t& counter = next[static_cast<std::size_t>(column - first_column)];
        result_offsets[static_cast<std::size_t>(column)] = place;
        const std::int64_t count = counter;
        counter = place;
        place += count;
    }
    for (const Entry* e = begin; e < end; ++e)
        put(next[static_cast<std::size_t>(e->column - first_column)]++,
            static_cast<std::int64_t>(e->major), e->load);
}

/// Transposes with `parts` threads. Calls load(k) for each entry k, then put(place, major, load) of
/// what that returned, each place once; the entries of a column come in ascending order of k.
/// Memory: 8 bytes and sizeof(Load) a nonzero.
template <class Load, class LoadEntry, class Put>
void transpose_in_blocks(const compressed_pattern& a, const column_blocks& cut,
                         std::span<std::int64_t> result_offsets, int parts, const LoadEntry& load,
                         const Put& put) {
    struct entry {
        std::int32_t column;
        std::int32_t major;
        Load load;
    };
    const auto owner = std::make_unique_for_overwrite<entry[]>(a.indices.size());
    entry* const entries = owner.get();
    touch_pages(entries, a.indices.size() * sizeof(entry));
    in_team(parts, [&](int member, int members) {
        for (int part = member; part < parts; part += members) {
            std::vector<std::int64_t> next = cut.places_of(part);
            for_each_row(a.offsets.data(), cut.begin_of(part), cut.begin_of(part + 1),
                         [&](std::int64_t major, std::int64_t k, std::int64_t end) {
                             for (; k < end; ++k) {
                                 const std::int32_t column = a.indices.data()[k];
                                 entries[next.data()[column >> cut.bits()]++] = {
                                     column, static_cast<std::int32_t>(major), load(k)};
                             }
                         });
        }
    });
    const std::int64_t columns = std::int64_t{1} << cut.bits();
    std::atomic<int> next_block{0};
    in_team(parts, [&](int /*member*/, int /*members*/) {
        std::vector<std::int64_t> next(static_cast<std::size_t>(columns));
        for (int block = next_block++; block < cut.blocks(); block = next_block++)
            put_block(entries + cut.begin(block), entries + cut.begin(block + 1), block * columns,
                      std::min(a.across, (block + 1) * columns), cut.begin(block), next,
                      result_offsets, put);
    });
    result_offsets[static_cast<std::size_t>(a.across)] = a.nonzeros();
}

} // namespace krylith
