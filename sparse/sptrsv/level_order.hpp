// The analysis of a triangle on a CUDA device: levels, order of rows, slices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/sptrsv/level_slices.hpp>
#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith::cuda {

/// The rows of a triangle by level.
struct level_order {
    std::int64_t levels = 0;
    bool natural = false;         ///< whether places are rows
    bool carries_lengths = false; ///< whether keys have lengths of the first two classes on top
    buffer<std::int32_t> lengths; ///< [rows] strict entries of each row
    buffer<std::uint32_t> keys;   ///< [rows] by place: level << length_class::bits | class
    buffer<std::int32_t> order;   ///< [rows] the row at each place; empty where natural
    buffer<std::int32_t> places;  ///< [rows] the place of each row; empty where natural
};

/// `blocks_each` is the number of blocks for each multiprocessor. Waits for the device twice.
template <class T>
[[nodiscard]] level_order order_by_level(const std::shared_ptr<device>& device,
                                         const triangle_source<T>& a, int blocks_each = 2);

/// The number of levels alone. Waits for the device.
template <class T>
[[nodiscard]] std::int64_t count_levels(const std::shared_ptr<device>& device,
                                        const triangle_source<T>& a);

/// Rows by ranges that are known not to be coupled within (triangular_options::ranges), each range
/// a level: in the order of solving, and sorted by length in windows of 256 places, so that slices
/// have few empty places. Lengths are in the keys alone, and there are no places of rows. Returns
/// nothing where an entry couples a range with itself or one that comes later, and where a row has
/// more than level_key::most_short strict entries, or more than 64 in all. Waits for the device.
template <class T>
[[nodiscard]] std::optional<level_order> order_by_ranges(const std::shared_ptr<device>& device,
                                                         const triangle_source<T>& a,
                                                         const std::vector<std::int64_t>& ranges);

/// The first places of all levels, and the number of rows: [levels + 1]. Waits for the device.
[[nodiscard]] std::vector<std::int64_t> first_places(const std::shared_ptr<device>& device,
                                                     const level_order& order);

/// The slices of an order: heads, and room for columns, values and pivots.
struct slice_plan {
    std::int64_t slices = 0;
    std::int64_t steps = 0;
    buffer<triangle_slice> heads; ///< [slices + 1]
};

/// A slice is of one class; where `one_level`, also of one level.
[[nodiscard]] slice_plan plan_slices(const std::shared_ptr<device>& device,
                                     const level_order& order, bool one_level);

/// The slice that begins at each of these places, or the number of slices. Waits for the device.
[[nodiscard]] std::vector<std::int64_t> slices_at(const std::shared_ptr<device>& device,
                                                  const slice_plan& plan,
                                                  const std::vector<std::int64_t>& places);

/// Fills in values and pivots, and columns unless that is null: by place, or as rows where `places`
/// is null. `bad_row`, which holds ~0, becomes the lowest row whose pivot is 0 or missing.
template <class T>
void fill_slices(device& device, const triangle_source<T>& a, const slice_plan& plan,
                 const std::int32_t* order, const std::int32_t* places, std::int32_t* columns,
                 T* values, T* pivots, unsigned* bad_row);

} // namespace krylith::cuda
