// How operators get blocks that are not made of a matrix.
#pragma once

#include <functional>
#include <memory>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/external/held_entries.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// Makes a device's block of something else than a matrix: (layout, rank, entries of x there).
template <class T>
using block_maker =
    std::function<std::unique_ptr<device_matrix<T>>(const layout&, int, const held_entries&)>;

} // namespace krylith
