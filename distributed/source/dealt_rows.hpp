// The patterns of blocks on CUDA devices that have other rows than those that they own, or parts of
// rows: operators 2nz, lra, lra-rc, pcsr, pcsc and pcoo.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/distributed/source/joined_rows.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/distributed/source/memory_items.hpp>

namespace krylith {

/// A block of a device.
struct wanted_rows {
    int rank;
    const joined_rows* rows;
};

/// Brings the patterns to the devices, [wanted], with global columns: 8 bytes a row and 4 a nonzero
/// there. Columns come from the devices where these have the pattern, and else from host memory,
/// when they are validated; the offsets of all rows are in host memory and valid. Waits for the
/// devices. Throws what validate() of the matrix throws.
template <class T>
[[nodiscard]] std::vector<resident_rows> bring_rows(const communicator& comm,
                                                    const matrix_source<T>& source,
                                                    std::span<const wanted_rows> wanted);

} // namespace krylith
