// The one stencil that most rows of a SELL matrix have, and the rows that have it, for kernels.
//
// Consecutive slices, as many as there are values in 16 bytes, are a *unit* where a warp may
// multiply them at once, with 16 bytes of consecutive rows a lane: they have all their rows, and no
// entry that the stencil lacks. Rows may lack entries of it, as those at the boundary of a grid do.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The stencils that products have a kernel for. Their diagonals, in ascending order, are runs:
/// `singles` of one diagonal, `threes` of three neighbours, and `singles` of one again.
enum class stencil_shape : std::int32_t {
    none,
    five_points,        ///< of two dimensions
    seven_points,       ///< of three
    nine_points,        ///< of two dimensions, corners too
    twenty_seven_points ///< of three
};

struct stencil_runs {
    int singles;
    int threes;

    [[nodiscard]] constexpr int count() const { return 2 * singles + threes; }
    [[nodiscard]] constexpr int entries() const { return 2 * singles + 3 * threes; }
    [[nodiscard]] constexpr bool is_three(int run) const {
        return run >= singles && run < singles + threes;
    }
    /// The number of the first entry of a run.
    [[nodiscard]] constexpr int first(int run) const {
        if (run < singles) return run;
        return run < singles + threes ? singles + 3 * (run - singles) : run + 2 * threes;
    }
    /// The entry whose diagonal says where the run lies: the middle one of three.
    [[nodiscard]] constexpr int middle(int run) const {
        return first(run) + (is_three(run) ? 1 : 0);
    }
};

[[nodiscard]] constexpr stencil_runs runs_of(stencil_shape shape) {
    switch (shape) {
    case stencil_shape::five_points: return {1, 1};
    case stencil_shape::seven_points: return {2, 1};
    case stencil_shape::nine_points: return {0, 3};
    case stencil_shape::twenty_seven_points: return {0, 9};
    default: return {0, 0};
    }
}

/// The stencil of a matrix. Its diagonals ascend.
template <class T>
struct sell_stencil {
    static constexpr int most_entries = 27;

    stencil_shape shape;
    std::int32_t aligned;            ///< not 0: stencil_runs::middle() are at multiples of 16 bytes
                                     ///< where the first owned entry of x is
    std::int32_t base[most_entries]; ///< local column - row
    T value[most_entries];
};

/// What a warp needs to know of a unit. Bit u stands for entry u of the stencil.
template <class T>
struct alignas(8) stencil_unit {
    static constexpr int slices = 16 / static_cast<int>(sizeof(T));

    std::uint32_t there;        ///< entries that the slices have; 0: they are no unit
    std::uint32_t partial;      ///< entries that some row lacks
    std::uint32_t read[slices]; ///< slice_head::read, where the lanes are that have an entry
};

} // namespace krylith
