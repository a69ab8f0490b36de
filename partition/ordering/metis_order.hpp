// An order of rows by METIS, which makes as many parts as devices, with few ghosts between them.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/partition/ordering/reordering.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// A new order of rows, and which of the new rows each part owns.
struct part_order {
    permutation order;
    row_partition rows;
};

/// Whether this build knows METIS (CMake: KRYLITH_METIS), and this machine has its library.
[[nodiscard]] bool metis_available();

/// Orders rows in parts of about equal nonzeros (1% more than the mean, where METIS finds such
/// parts) that need few entries of each other: METIS_PartGraphKway on the graph of A + A',
/// objective communication volume (Karypis, Kumar, SIAM J. Sci. Comput. 20(1), 1998; Multilevel
/// k-way Partitioning Scheme, J. Parallel Distrib. Comput. 48(1), 1998). On grids its ghosts are up
/// to 12% fewer than with objective edge cut, in up to 1.5 times the time (measured for 2 to 7
/// parts). Inside a part rows are in the order of reverse_cuthill_mckee: a new order is asked for
/// where the caller's is bad, and x should be found in the cache too. One part is that order alone.
/// That order, with rows assigned by equal_nonzeros, is also taken where METIS would leave a part
/// with over 10% more nonzeros than the largest part then has: a few long rows, about as many parts
/// as rows, or no rows coupled.
///
/// The arrays are those of a valid square CSR matrix. The order is the same on every call: the seed
/// is fixed, and one call at a time runs METIS. METIS draws from C's rand() (seeding it anew) and
/// has signal handlers of its own while it runs: for the same order no other thread may use rand()
/// then. One thread does it; 0.3 to 0.6 s for a 7-point grid of 64^3. Memory beside that of
/// reverse_cuthill_mckee: 4 bytes for each entry of A + A', 8 n, and METIS's own.
///
/// Throws usage_error without METIS, and for parts < 1; input_error where nonzeros of A, or entries
/// of A + A', are more than METIS's 32-bit indices (check_index_size); device_error where memory is
/// too short for METIS.
[[nodiscard]] part_order metis_order(std::span<const std::int64_t> row_offsets,
                                     std::span<const std::int32_t> column_indices, int parts);

} // namespace krylith
