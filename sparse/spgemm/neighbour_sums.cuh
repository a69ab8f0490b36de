// The numeric phase for rows that neighbouring_rows took together: a warp adds up eight rows of C
// in shared memory, four lanes a row, one row of B after the other. A sum lies where its column has
// its rank among the columns of all eight.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/joined_pieces.cuh>
#include <krylith/sparse/spgemm/neighbour_records.hpp>
#include <krylith/sparse/spgemm/placed_sums.cuh>

namespace krylith::cuda {

template <class T>
struct alignas(16) neighbour_sums_memory {
    using limits = neighbour_limits;
    /// From one row's sums to the next one's: neighbours must not meet in the same banks.
    static constexpr int stride = limits::columns + 4;

    T sums[limits::rows * stride];
    T factors[limits::entries];            ///< the entries of A
    std::uint32_t from[limits::referred];  ///< where a row of B begins, less its `begin`
    std::uint32_t spans[limits::referred]; ///< where its ranks begin, and 2^16 times where they end
    std::uint32_t numbers[limits::entries / 4];
    std::uint32_t ranks[limits::ranks / 4];

    [[nodiscard]] __device__ int number_of(int entry) const {
        return reinterpret_cast<const std::uint8_t*>(numbers)[entry];
    }
    [[nodiscard]] __device__ int rank_of(int entry) const {
        return reinterpret_cast<const std::uint8_t*>(ranks)[entry];
    }

    /// Takes the arrays of a record that sums need.
    __device__ void load(const neighbour_record& record, const std::int64_t* b_offsets) {
        const int lane = lane_number();
        const int referred = record.referred;
        const std::uint32_t* const words = record.words();
        const auto* const lengths =
            reinterpret_cast<const std::uint8_t*>(words + record.lengths_at());
        copy(words + record.numbers_at(), record.entries, numbers);
        copy(words + record.ranks_at(), record.ranks, ranks);
        for (int i = lane; i < limits::rows * stride; i += 32) sums[i] = T{0};
        int ranks_before = 0;
        for (int first = 0; first < referred; first += 32) {
            const int i = first + lane;
            const int length = i < referred ? lengths[i] : 0;
            const std::int64_t where =
                i < referred ? b_offsets[words[record.referred_at() + i]] : 0;
            const int sum = warp_running_sum(length);
            const int begin = ranks_before + sum - length;
            ranks_before += __shfl_sync(all_lanes, sum, 31);
            if (i >= referred) continue;
            from[i] = static_cast<std::uint32_t>(where) - static_cast<std::uint32_t>(begin);
            spans[i] = static_cast<std::uint32_t>(begin | (begin + length) << 16);
        }
        __syncwarp();
    }

    /// Loads the entries of A of all rows.
    __device__ void load_factors(const T* values, joined_pieces<std::uint32_t>& entries) {
        constexpr int flight = 2;
        for (int first = 0; first < entries.total(); first += 32 * flight) {
            T value[flight];
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const std::uint32_t at = entries.next(first + u * 32);
                if (first + u * 32 + lane_number() < entries.total()) value[u] = values[at];
            }
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const int entry = first + u * 32 + lane_number();
                if (entry < entries.total()) factors[entry] = value[u];
            }
        }
        __syncwarp();
    }

    /// Adds up the row of the lane's four, whose entries are [begin, begin + count).
    __device__ void add_up(const T* values, int begin, int count) {
        constexpr int lanes = limits::lanes;
        constexpr int flight = 4; // entries of A whose rows of B are loaded at once
        constexpr int parts = 2;  // of each, so many times `lanes` entries
        const int lane = lane_number() % lanes;
        T* const own = sums + lane_number() / lanes * stride;
        const int most = __reduce_max_sync(all_lanes, count);
        for (int k = 0; k < most; k += flight) {
            std::uint32_t where[flight];
            int at[flight];
            int end[flight];
            T value[flight][parts];
            bool tails = false;
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const bool there = k + u < count;
                const int number = there ? number_of(begin + k + u) : 0;
                const std::uint32_t span = there ? spans[number] : 0;
                at[u] = static_cast<int>(span & 0xffff) + lane;
                end[u] = static_cast<int>(span >> 16);
                where[u] = from[number];
                tails = tails || at[u] + parts * lanes < end[u];
#pragma unroll
                for (int p = 0; p < parts; ++p)
                    if (at[u] + p * lanes < end[u])
                        value[u][p] =
                            values[where[u] + static_cast<std::uint32_t>(at[u] + p * lanes)];
            }
            tails = __any_sync(all_lanes, tails) != 0;
#pragma unroll
            for (int u = 0; u < flight; ++u) {
                const T factor = k + u < count ? factors[begin + k + u] : T{0};
#pragma unroll
                for (int p = 0; p < parts; ++p)
                    if (at[u] + p * lanes < end[u]) {
                        T& sum = own[rank_of(at[u] + p * lanes)];
                        sum = add_product(factor, value[u][p], sum);
                    }
                if (tails)
                    for (int i = at[u] + parts * lanes; i < end[u]; i += lanes) {
                        T& sum = own[rank_of(i)];
                        sum = add_product(factor, values[where[u] + static_cast<std::uint32_t>(i)],
                                          sum);
                    }
                __syncwarp();
            }
        }
    }

private:
    /// Copies bytes in words.
    __device__ void copy(const std::uint32_t* source, int bytes, std::uint32_t* to) const {
        for (int i = lane_number(); i < neighbour_record::padded(bytes) / 4; i += 32)
            to[i] = source[i];
    }
};

template <bool Columns, class T>
__global__ void __launch_bounds__(block_threads)
    neighbour_sums(const __grid_constant__ device_csr_view<T> a,
                   const __grid_constant__ device_csr_view<T> b, const row_list rows,
                   const record_array records, const numeric_results<T> to) {
    using memory = neighbour_sums_memory<T>;
    using limits = neighbour_limits;
    extern __shared__ __align__(16) unsigned char shared[];
    memory& mine = reinterpret_cast<memory*>(shared)[threadIdx.x / 32];
    const int lane = lane_number();
    const std::int64_t groups = (rows.count + limits::rows - 1) / limits::rows;
    for (std::int64_t group = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         group < groups; group += std::int64_t{gridDim.x} * block_warps) {
        const neighbour_record& record = records.of(group);
        if (record.referred == 0) continue;
        const std::int64_t at = group * limits::rows + lane;
        std::uint32_t begin = 0;
        int entries = 0;
        std::int64_t result = 0;
        std::uint64_t mask = 0;
        if (lane < limits::rows && at < rows.count) {
            const std::int64_t row = rows.rows != nullptr ? rows.rows[at] : at;
            const std::int64_t first = a.offsets[row];
            begin = static_cast<std::uint32_t>(first);
            entries = static_cast<int>(a.offsets[row + 1] - first);
            result = to.offsets[row];
            mask = record.masks[lane];
        }
        joined_pieces<std::uint32_t> all(begin, entries);
        mine.load(record, b.offsets);
        mine.load_factors(a.values, all);
        mine.add_up(b.values, __shfl_sync(all_lanes, all.before(), lane / limits::lanes),
                    __shfl_sync(all_lanes, entries, lane / limits::lanes));
        const unsigned lower = (1u << lane) - 1;
        for (int i = 0; i < limits::rows; ++i) {
            const std::int64_t first = __shfl_sync(all_lanes, result, i);
            const std::uint64_t has = __shfl_sync(all_lanes, mask, i);
            int before = 0;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const auto bits = static_cast<unsigned>(has >> (32 * half));
                if ((bits >> lane & 1) != 0) {
                    const std::int64_t place = first + before + __popc(bits & lower);
                    const int rank = half * 32 + lane;
                    to.values[place] = mine.sums[i * memory::stride + rank];
                    if constexpr (Columns)
                        to.indices[place] = static_cast<std::int32_t>(record.words()[rank]);
                }
                before = __popc(bits);
            }
        }
        __syncwarp();
    }
}

} // namespace krylith::cuda
