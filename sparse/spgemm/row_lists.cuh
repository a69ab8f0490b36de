// Lists of rows: of classes, and those of which the device alone knows how long they are.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::cuda {

/// The scratch of the symbolic phase: of running sums, and of lists of classes.
inline constexpr int symbolic_scratch_bytes = 65536;

/// Where kernels put the rows that they have no room for, in any order.
struct overflow_list {
    std::int32_t* rows;
    unsigned* count;
    __device__ void add(std::int64_t row) const {
        rows[atomicAdd(count, 1u)] = static_cast<std::int32_t>(row);
    }
};

/// Where the rows of each class go.
struct class_lists {
    static constexpr int most = 16;
    static constexpr unsigned most_blocks = 1024;
    static_assert(most_blocks * most * sizeof(unsigned) <= symbolic_scratch_bytes);

    std::int32_t* of[most] = {}; ///< null: no list is wanted
};

/// Two lists of rows, one after the other, of which every so many-th row counts; the length of the
/// second is on the device.
struct joined_lists {
    row_list first;
    const std::int32_t* second;
    const unsigned* second_count; ///< null: there is no second list
    std::int64_t every = 1;

    [[nodiscard]] __device__ std::int64_t count() const {
        const std::int64_t all = first.count + (second_count != nullptr ? *second_count : 0);
        return (all + every - 1) / every;
    }
    [[nodiscard]] __device__ std::int64_t row(std::int64_t item) const {
        item *= every;
        if (item >= first.count) return second[item - first.count];
        return first.rows != nullptr ? first.rows[item] : item;
    }
};

} // namespace krylith::cuda
