// The motions that do not strain a body: near-null vectors for elasticity.
//
//     const std::vector<double> modes = rigid_body_modes(coordinates, 3);
//     const amg<double> m(*a, matrix, {.block_size = 3, .near_null = modes});
#pragma once

#include <span>
#include <vector>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// Returns the rigid body modes of nodes as amg_options::near_null takes them: vectors of n =
/// coordinates.size() entries, one after the other. Nodes have their coordinates, and rows, next to
/// each other: x0 y0 z0 x1 y1 z1 ..., and the row of unknown i of node k is dimension k + i. In the
/// plane 3 modes, 2 shifts and a turn; in space 6, 3 shifts and 3 turns about the middle of the
/// nodes; on a line 1. They are orthonormal. A turn that moves no node differently from those
/// before it, as of nodes on one line, is left out; of no nodes there are no modes. Coordinates may
/// have any unit. Throws usage_error for a dimension that is not 1 to 3, for coordinates whose
/// number it does not divide, and for one that is not finite. O(n), in host memory.
[[nodiscard]] std::vector<double> rigid_body_modes(std::span<const double> coordinates,
                                                   int dimension);

} // namespace krylith
