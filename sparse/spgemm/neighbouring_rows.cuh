// The symbolic phase for rows that follow each other and refer to mostly the same rows of B, as the
// rows of a mesh do: a warp takes eight at once.
//
// Each row of B that any of the eight refers to is read once: its columns get their rank among all
// columns of the eight rows, at most 64, so that a row of C is a word with a bit for each. The
// place of a product is the number of lower bits. With 27 points and a prolongation that is a third
// of the instructions that a hash table for each row takes.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/joined_pieces.cuh>
#include <krylith/sparse/spgemm/row_lists.cuh>
#include <krylith/sparse/spgemm/short_rows.cuh>

namespace krylith::cuda {

struct alignas(16) neighbour_memory {
    static constexpr int rows = 8;            ///< of A
    static constexpr int most_entries = 256;  ///< of these
    static constexpr int most_referred = 128; ///< rows of B
    static constexpr int most_ranks = 768;    ///< entries of these
    static constexpr int most_columns = 64;
    static constexpr int keys_size = 256;
    static constexpr int columns_size = 128;
    static_assert(most_referred + 32 < keys_size && most_columns + 32 < columns_size);

    union {
        std::uint32_t keys[keys_size];           ///< numbers of rows of B
        unsigned long long masks[most_referred]; ///< and then the ranks of the columns of each
    };
    union {
        std::uint32_t columns[columns_size];
        std::uint8_t places[rows][most_columns]; ///< and then the place of each rank in each row
    };
    std::uint32_t list[most_columns + 32 + 4]; ///< columns without gaps
    std::uint32_t referred[most_referred];     ///< the rows of B
    std::uint16_t begins[most_referred + 1];   ///< where the ranks of each begin
    union {
        std::uint8_t number_of[keys_size]; ///< of a home in `keys`: that in `referred`
        std::uint8_t rank_of[columns_size]; ///< and then of a home in `columns`
    };
    std::uint8_t homes[most_columns + 32]; ///< where in `columns` those of `list` are
    std::uint8_t numbers[most_entries];    ///< which row of B each entry of A refers to
    std::uint8_t ranks[most_ranks];        ///< of the entries of rows of B
};

/// A warp's rows, and the steps by which their columns are found. Each step but the last returns
/// false where there is no room.
class neighbouring_rows_of_warp {
public:
    __device__ neighbouring_rows_of_warp(const csr_pattern& a, const csr_pattern& b,
                                         neighbour_memory& memory, std::int64_t begin, int entries)
        : a_(a),
          b_(b),
          mine_(memory),
          lane_(lane_number()),
          lower_((1u << lane_number()) - 1),
          entries_(begin, entries) {}

    /// Lists the rows of B that the entries of A refer to, each once.
    [[nodiscard]] __device__ bool find_referred() {
        if (entries_.total() > neighbour_memory::most_entries) return false;
        const uint4 empty = {no_key, no_key, no_key, no_key};
        for (int i = lane_; i < neighbour_memory::keys_size / 4; i += 32)
            reinterpret_cast<uint4*>(mine_.keys)[i] = empty;
        for (int i = lane_; i < neighbour_memory::columns_size / 4; i += 32)
            reinterpret_cast<uint4*>(mine_.columns)[i] = empty;
        __syncwarp();
        for (int first = 0; first < entries_.total(); first += 32 * flight) {
            std::uint32_t key[flight];
            load(entries_, a_.indices, first, key);
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const int at = first + u * 32;
                if (at >= entries_.total()) break;
                bool first_of_kind = false;
                const int home =
                    insert_key<neighbour_memory::keys_size>(mine_.keys, key[u], first_of_kind);
                const unsigned firsts = __ballot_sync(all_lanes, first_of_kind);
                if (referred_ + __popc(firsts) > neighbour_memory::most_referred) return false;
                if (first_of_kind) {
                    const int number = referred_ + __popc(firsts & lower_);
                    mine_.referred[number] = key[u];
                    mine_.number_of[home] = static_cast<std::uint8_t>(number);
                }
                referred_ += __popc(firsts);
                __syncwarp();
                if (key[u] != no_key) mine_.numbers[at + lane_] = mine_.number_of[home];
            }
        }
        __syncwarp();
        return true;
    }

    /// Lists their columns, each once, and keeps the home of each entry.
    [[nodiscard]] __device__ bool find_columns() {
        for (int first_row = 0; first_row < referred_; first_row += 32) {
            const bool there = first_row + lane_ < referred_;
            std::int64_t begin = 0;
            int length = 0;
            if (there) {
                const std::uint32_t row = mine_.referred[first_row + lane_];
                begin = b_.offsets[row];
                const std::int64_t all = b_.offsets[row + 1] - begin;
                length = static_cast<int>(all < neighbour_memory::most_ranks
                                              ? all
                                              : neighbour_memory::most_ranks + 1);
            }
            joined_pieces<std::int64_t> rows(begin, length);
            if (ranks_ + rows.total() > neighbour_memory::most_ranks) return false;
            if (there)
                mine_.begins[first_row + lane_] =
                    static_cast<std::uint16_t>(ranks_ + rows.before());
            for (int first = 0; first < rows.total(); first += 32 * flight) {
                std::uint32_t column[flight];
                load(rows, b_.indices, first, column);
#pragma unroll
                for (int u = 0; u < flight; ++u) {
                    const int at = first + u * 32;
                    if (at >= rows.total()) break;
                    bool first_of_kind = false;
                    const int home = insert_key<neighbour_memory::columns_size>(
                        mine_.columns, column[u], first_of_kind);
                    if (column[u] != no_key)
                        mine_.ranks[ranks_ + at + lane_] = static_cast<std::uint8_t>(home);
                    const unsigned firsts = __ballot_sync(all_lanes, first_of_kind);
                    if (firsts == 0) continue;
                    if (first_of_kind) {
                        const int c = columns_ + __popc(firsts & lower_);
                        mine_.list[c] = column[u];
                        mine_.homes[c] = static_cast<std::uint8_t>(home);
                    }
                    columns_ += __popc(firsts);
                    if (columns_ > neighbour_memory::most_columns) return false;
                }
            }
            ranks_ += rows.total();
        }
        if (lane_ == 0) mine_.begins[referred_] = static_cast<std::uint16_t>(ranks_);
        __syncwarp();
        return true;
    }

    /// Homes become ranks, and rows of B words with a bit for each rank.
    __device__ void find_ranks() {
        if (lane_ < 4) mine_.list[columns_ + lane_] = no_key;
        __syncwarp();
        for (int c = lane_; c < columns_; c += 32) {
            const std::uint32_t own = mine_.list[c];
            std::uint32_t rank = 0;
            for (int other = 0; other < columns_; other += 4) {
                const uint4 some = reinterpret_cast<const uint4*>(mine_.list)[other / 4];
                rank += (some.x < own) + (some.y < own) + (some.z < own) + (some.w < own);
            }
            mine_.rank_of[mine_.homes[c]] = static_cast<std::uint8_t>(rank);
        }
        __syncwarp();
        for (int i = lane_; i < ranks_; i += 32) mine_.ranks[i] = mine_.rank_of[mine_.ranks[i]];
        __syncwarp();
        for (int row = lane_; row < referred_; row += 32) {
            unsigned long long mask = 0;
            for (int i = mine_.begins[row]; i < mine_.begins[row + 1]; ++i)
                mask |= 1ull << mine_.ranks[i];
            mine_.masks[row] = mask;
        }
        __syncwarp();
    }

    /// The ranks of a row of C, whose entries of A are [begin, begin + count): known to its four
    /// lanes.
    [[nodiscard]] __device__ unsigned long long row_mask(int begin, int count) const {
        unsigned long long mask = 0;
        for (int k = lane_ % lanes_of_row; k < count; k += lanes_of_row)
            mask |= mine_.masks[mine_.numbers[begin + k]];
#pragma unroll
        for (int by = 1; by < lanes_of_row; by *= 2) mask |= __shfl_xor_sync(all_lanes, mask, by);
        return mask;
    }

    /// Sets the place of each rank in each row, of row_mask().
    __device__ void find_places(unsigned long long mask) {
        const auto low = static_cast<unsigned>(mask);
        const auto high = static_cast<unsigned>(mask >> 32);
#pragma unroll
        for (int row = 0; row < neighbour_memory::rows; ++row) {
            const unsigned of_low = __shfl_sync(all_lanes, low, row * lanes_of_row);
            const unsigned of_high = __shfl_sync(all_lanes, high, row * lanes_of_row);
            mine_.places[row][lane_] = static_cast<std::uint8_t>(__popc(of_low & lower_));
            mine_.places[row][32 + lane_] =
                static_cast<std::uint8_t>(__popc(of_low) + __popc(of_high & lower_));
        }
        __syncwarp();
    }

    /// Writes the places of the products of row `row` of the eight, whose entries of A are
    /// [begin, begin + count).
    __device__ void write_places(int row, int begin, int count, std::uint8_t* to) const {
        for (int k = 0; k < count; k += 32) {
            int from = 0;
            int length = 0;
            if (k + lane_ < count) {
                const int number = mine_.numbers[begin + k + lane_];
                from = mine_.begins[number];
                length = mine_.begins[number + 1] - from;
            }
            joined_pieces<int> products(from, length);
            for (int first = 0; first < products.total(); first += 32) {
                const int at = products.next(first);
                if (first + lane_ < products.total())
                    to[first + lane_] = mine_.places[row][mine_.ranks[at]];
            }
            to += products.total();
        }
    }

    /// Entries of A of the rows of lower lanes.
    [[nodiscard]] __device__ int entries_before() const { return entries_.before(); }

    static constexpr int lanes_of_row = 32 / neighbour_memory::rows;

private:
    static constexpr int flight = 4;

    /// Loads items [first, first + 32 * flight); no_key from the end on.
    __device__ void load(joined_pieces<std::int64_t>& pieces, const std::int32_t* indices,
                         int first, std::uint32_t (&item)[flight]) const {
#pragma unroll
        for (int u = 0; u < flight; ++u) {
            const std::int64_t at = pieces.next(first + u * 32);
            item[u] = first + u * 32 + lane_ < pieces.total()
                          ? static_cast<std::uint32_t>(indices[at])
                          : no_key;
        }
    }

    const csr_pattern& a_;
    const csr_pattern& b_;
    neighbour_memory& mine_;
    int lane_;
    unsigned lower_; ///< the lanes below
    joined_pieces<std::int64_t> entries_;
    int referred_ = 0;
    int ranks_ = 0;
    int columns_ = 0;
};

/// Takes every so many-th group of eight rows. Those of groups that find no room go to `overflow`.
__global__ void __launch_bounds__(block_threads)
    neighbouring_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                      const row_list rows, std::int64_t every, const symbolic_results to,
                      const overflow_list overflow) {
    using memory = neighbour_memory;
    constexpr int lanes_of_row = neighbouring_rows_of_warp::lanes_of_row;
    __shared__ __align__(16) memory memories[block_warps];
    const int lane = lane_number();
    const std::int64_t warp = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
    const std::int64_t stride = std::int64_t{gridDim.x} * block_warps * every * memory::rows;
    for (std::int64_t first = warp * every * memory::rows; first < rows.count; first += stride) {
        const bool there = lane < memory::rows && first + lane < rows.count;
        std::int64_t row = 0;
        std::int64_t begin = 0;
        int entries = 0;
        if (there) {
            row = rows.rows != nullptr ? rows.rows[first + lane] : first + lane;
            begin = a.offsets[row];
            const std::int64_t all = a.offsets[row + 1] - begin;
            entries = static_cast<int>(all < memory::most_entries ? all : memory::most_entries + 1);
        }
        neighbouring_rows_of_warp group(a, b, memories[threadIdx.x / 32], begin, entries);
        if (!group.find_referred() || !group.find_columns()) {
            if (there) overflow.add(row);
            __syncwarp();
            continue;
        }
        group.find_ranks();
        const int before = group.entries_before();
        const unsigned long long mask =
            group.row_mask(__shfl_sync(all_lanes, before, lane / lanes_of_row),
                           __shfl_sync(all_lanes, entries, lane / lanes_of_row));
        const int count = __shfl_sync(all_lanes, __popcll(mask), lane * lanes_of_row);
        if (there) to.counts[row] = count;
        if (to.places != nullptr) {
            group.find_places(mask);
            const std::int64_t places_at = there ? to.places_at[row] : 0;
            for (int i = 0; i < memory::rows; ++i)
                group.write_places(i, __shfl_sync(all_lanes, before, i),
                                   __shfl_sync(all_lanes, entries, i),
                                   to.places + __shfl_sync(all_lanes, places_at, i));
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
