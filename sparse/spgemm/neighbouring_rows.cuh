// The symbolic phase for rows that follow each other and refer to mostly the same rows of B, as the
// rows of a mesh do: a warp takes eight at once.
//
// Each row of B that any of the eight refers to is read once: its columns get their rank among all
// columns of the eight rows, at most 64, so that a row of C is a word with a bit for each. These
// ranks are kept, not the place of each product: they are two fifths as many with 27 points.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/column_tables.cuh>
#include <krylith/sparse/spgemm/joined_pieces.cuh>
#include <krylith/sparse/spgemm/neighbour_records.hpp>
#include <krylith/sparse/spgemm/row_lists.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

struct alignas(16) neighbour_memory {
    using limits = neighbour_limits;
    static constexpr int keys_size = 256;
    static constexpr int columns_size = 128;
    static_assert(limits::referred + 32 < keys_size && limits::columns + 32 < columns_size);

    union {
        std::uint32_t keys[keys_size];         ///< numbers of rows of B
        std::uint64_t masks[limits::referred]; ///< and then the ranks of the columns of each
    };
    std::uint32_t columns[columns_size];
    std::uint32_t list[limits::columns + 32 + 4];     ///< columns without gaps
    std::uint32_t referred[limits::referred];         ///< the rows of B
    alignas(4) std::uint8_t numbers[limits::entries]; ///< which of these each entry of A refers to
    alignas(4) std::uint8_t ranks[limits::ranks];     ///< of the entries of rows of B
    std::uint16_t begins[limits::referred + 1];       ///< where those of each row begin
    union {
        std::uint8_t number_of[keys_size];  ///< of a home in `keys`: that in `referred`
        std::uint8_t rank_of[columns_size]; ///< and then of a home in `columns`
    };
    std::uint8_t homes[limits::columns + 32]; ///< where in `columns` those of `list` are
};

/// A warp's rows, and the steps by which their columns are found, in this order. Those that return
/// false found no room.
class neighbouring_rows_of_warp {
public:
    __device__ neighbouring_rows_of_warp(const csr_pattern& a, const csr_pattern& b,
                                         neighbour_memory& memory, std::uint32_t begin, int entries)
        : a_(a),
          b_(b),
          mine_(memory),
          lane_(lane_number()),
          lower_((1u << lane_number()) - 1),
          entries_(begin, entries) {}

    /// Lists the rows of B that the entries of A refer to, each once.
    [[nodiscard]] __device__ bool find_referred() {
        if (entries_.total() > neighbour_limits::entries) return false;
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
                if (referred_ + __popc(firsts) > neighbour_limits::referred) return false;
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
            std::uint32_t begin = 0;
            int length = 0;
            if (there) {
                const std::uint32_t row = mine_.referred[first_row + lane_];
                const std::int64_t from = b_.offsets[row];
                const std::int64_t all = b_.offsets[row + 1] - from;
                begin = static_cast<std::uint32_t>(from);
                length = static_cast<int>(
                    all < neighbour_limits::ranks ? all : neighbour_limits::ranks + 1);
            }
            joined_pieces<std::uint32_t> rows(begin, length);
            if (ranks_ + rows.total() > neighbour_limits::ranks) return false;
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
                    const int home = list_key<neighbour_memory::columns_size>(
                        mine_.columns, column[u], mine_.list, mine_.homes, columns_);
                    if (column[u] != no_key)
                        mine_.ranks[ranks_ + at + lane_] = static_cast<std::uint8_t>(home);
                    if (columns_ > neighbour_limits::columns) return false;
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
        for (int c = lane_; c < columns_; c += 32)
            mine_.rank_of[mine_.homes[c]] =
                static_cast<std::uint8_t>(rank_among(mine_.list, columns_, mine_.list[c]));
        __syncwarp();
        for (int i = lane_; i < ranks_; i += 32) mine_.ranks[i] = mine_.rank_of[mine_.ranks[i]];
        __syncwarp();
        for (int row = lane_; row < referred_; row += 32) {
            std::uint64_t mask = 0;
            for (int i = mine_.begins[row]; i < mine_.begins[row + 1]; ++i)
                mask |= std::uint64_t{1} << mine_.ranks[i];
            mine_.masks[row] = mask;
        }
        __syncwarp();
    }

    /// The ranks of a row of C, whose entries of A are [begin, begin + count): known to its four
    /// lanes.
    [[nodiscard]] __device__ std::uint64_t row_mask(int begin, int count) const {
        std::uint64_t mask = 0;
        for (int k = lane_ % neighbour_limits::lanes; k < count; k += neighbour_limits::lanes)
            mask |= mine_.masks[mine_.numbers[begin + k]];
#pragma unroll
        for (int by = 1; by < neighbour_limits::lanes; by *= 2)
            mask |= __shfl_xor_sync(all_lanes, mask, by);
        return mask;
    }

    [[nodiscard]] __device__ int record_bytes() const {
        return neighbour_record::bytes_of(columns_, referred_, entries_.total(), ranks_);
    }

    /// Keeps all but masks.
    __device__ void write(neighbour_record& to) const {
        neighbour_record head{};
        head.referred = static_cast<std::uint16_t>(referred_);
        head.entries = static_cast<std::uint16_t>(entries_.total());
        head.ranks = static_cast<std::uint16_t>(ranks_);
        head.columns = static_cast<std::uint16_t>(columns_);
        if (lane_ == 0) {
            to.referred = head.referred;
            to.entries = head.entries;
            to.ranks = head.ranks;
            to.columns = head.columns;
        }
        std::uint32_t* const words = to.words();
        for (int i = lane_; i < columns_; i += 32)
            words[mine_.rank_of[mine_.homes[i]]] = mine_.list[i];
        auto* const lengths = reinterpret_cast<std::uint8_t*>(words + head.lengths_at());
        for (int i = lane_; i < referred_; i += 32) {
            words[head.referred_at() + i] = mine_.referred[i];
            lengths[i] = static_cast<std::uint8_t>(mine_.begins[i + 1] - mine_.begins[i]);
        }
        copy_words(mine_.numbers, head.entries, words + head.numbers_at());
        copy_words(mine_.ranks, head.ranks, words + head.ranks_at());
    }

    /// Entries of A of the rows of lower lanes.
    [[nodiscard]] __device__ int entries_before() const {
        return entries_.before();
    }

private:
    static constexpr int flight = 2;

    /// Loads items [first, first + 32 * flight); no_key from the end on.
    __device__ void load(joined_pieces<std::uint32_t>& pieces, const std::int32_t* indices,
                         int first, std::uint32_t (&item)[flight]) const {
#pragma unroll
        for (int u = 0; u < flight; ++u) {
            const std::uint32_t at = pieces.next(first + u * 32);
            item[u] = first + u * 32 + lane_ < pieces.total()
                          ? static_cast<std::uint32_t>(indices[at])
                          : no_key;
        }
    }

    /// Copies bytes that begin at a word, and what lies behind the last one up to the next word.
    __device__ void copy_words(const std::uint8_t* from, int bytes, std::uint32_t* to) const {
        for (int i = lane_; i < neighbour_record::padded(bytes) / 4; i += 32)
            to[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
    }

    const csr_pattern& a_;
    const csr_pattern& b_;
    neighbour_memory& mine_;
    int lane_;
    unsigned lower_; ///< the lanes below
    joined_pieces<std::uint32_t> entries_;
    int referred_ = 0;
    int ranks_ = 0;
    int columns_ = 0;
};

/// Takes every so many-th group of eight rows. `sizes` gets the bytes of the record of each, 0
/// where there is no room for it; null: records are kept instead, `together` is set for their rows,
/// and the rows of groups that find no room go to `overflow`.
__global__ void __launch_bounds__(block_threads)
    neighbouring_rows(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                      const row_list rows, std::int64_t every, std::int32_t* sizes,
                      const record_array to, std::int32_t* counts, std::uint8_t* together,
                      const overflow_list overflow) {
    using limits = neighbour_limits;
    __shared__ neighbour_memory memories[block_warps];
    const int lane = lane_number();
    const std::int64_t groups = (rows.count + limits::rows - 1) / limits::rows;
    const std::int64_t stride = std::int64_t{gridDim.x} * block_warps;
    for (std::int64_t item = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         item * every < groups; item += stride) {
        const std::int64_t group = item * every;
        const std::int64_t at = group * limits::rows + lane;
        const bool there = lane < limits::rows && at < rows.count;
        std::int64_t row = 0;
        std::uint32_t begin = 0;
        int entries = 0;
        if (there) {
            row = rows.rows != nullptr ? rows.rows[at] : at;
            const std::int64_t from = a.offsets[row];
            const std::int64_t all = a.offsets[row + 1] - from;
            begin = static_cast<std::uint32_t>(from);
            entries = static_cast<int>(all < limits::entries ? all : limits::entries + 1);
        }
        neighbouring_rows_of_warp warp(a, b, memories[threadIdx.x / 32], begin, entries);
        bool fits = warp.find_referred() && warp.find_columns();
        if (sizes != nullptr) {
            if (lane == 0) sizes[item] = fits ? warp.record_bytes() : 0;
            __syncwarp();
            continue;
        }
        fits = fits && warp.record_bytes() <= to.stride;
        neighbour_record& record = to.of(group);
        if (fits) {
            warp.find_ranks();
            const int before = warp.entries_before();
            const std::uint64_t mask =
                warp.row_mask(__shfl_sync(all_lanes, before, lane / limits::lanes),
                              __shfl_sync(all_lanes, entries, lane / limits::lanes));
            if (lane % limits::lanes == 0) record.masks[lane / limits::lanes] = mask;
            const int count = __shfl_sync(all_lanes, __popcll(mask), lane * limits::lanes);
            if (there) {
                counts[row] = count;
                together[row] = 1;
            }
            warp.write(record);
        } else {
            if (lane == 0) record.referred = 0;
            if (there) overflow.add(row);
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
