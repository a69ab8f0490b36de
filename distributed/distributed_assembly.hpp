// Coordinate entries, as a finite-element code assembles them: sorted once into a distributed_csr,
// then one gather for each new set of values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/source/value_gather.hpp>

namespace krylith {

/// Coordinate entries as a finite-element code assembles them for one device, each array in its
/// memory or that of the host: entry k adds values[k] at (row_indices[k], column_indices[k]) of the
/// whole matrix, in any order, duplicates included.
/// Rows must be among the `rows` rows that the device owns; entries with a negative row or column
/// are left out (as in PETSc's MatSetPreallocationCOO).
template <class T>
struct coo_part {
    std::int64_t rows = 0;
    std::int64_t entries = 0;
    const std::int32_t* row_indices = nullptr;    ///< [entries]
    const std::int32_t* column_indices = nullptr; ///< [entries]
    const T* values = nullptr;                    ///< [entries]
};

/// The matrix of coordinate entries over a group, with ascending columns, and the permutation that
/// sorts them (matrix/coo_assembly.hpp). parts[k] are the entries of rank k, whose arrays may be
/// freed once it is made. `columns` owns those of a square matrix as parts own rows.
///
///     distributed_assembly<double> assembly(group, parts, columns); // coo_part, one a device
///     const auto a = make_operator(assembly.matrix());
///     amg<double> m(*a, assembly.matrix());
///     assembly.gather(element_values); // new values: one gather on each device
///     a->update_on_devices(assembly.values());
///     m.update(assembly.matrix());
///
/// Bytes on a device (fp64): those of the matrix, and 4 an entry; with duplicates 4 more a nonzero.
/// Move-only.
template <class T>
class distributed_assembly {
public:
    /// CUDA devices sort their entries themselves, which takes up to 36 bytes an entry for that
    /// time; for host devices it is O(entries) and a sort of rows on the host. Waits for the
    /// devices. Throws usage_error for another number of parts than devices, for negative sizes,
    /// for a partition of columns that is not of the ranks of the group, and for pointers that are
    /// null or of another device; input_error for an entry of another rank's row or of no column,
    /// naming it, and for 2^31 entries or more on a device. Collective.
    distributed_assembly(const communicator& comm, std::span<const coo_part<T>> parts,
                         row_partition columns);

    /// Its values are those of the assembly: gather() writes them, block(rank).values() is null.
    [[nodiscard]] const distributed_csr<T>& matrix() const noexcept { return matrix_; }
    /// Enqueues the sums of new values, coo_values[k] being those of the entries of rank k, on its
    /// device or in host memory, in the order in which they were given; null is allowed for a rank
    /// without entries. Entries of one place are added in the order of the entries: the same bits
    /// each time. Throws usage_error for another number of arrays than ranks, and for one that is
    /// null or of another device, and changes nothing then. Collective: each driver gives the
    /// arrays of its local ranks.
    void gather(std::span<const T* const> coo_values);
    /// [ranks] the values of each rank's rows in the order of its block, as
    /// matrix_operator::update_on_devices() takes them.
    [[nodiscard]] std::span<const T* const> values() const noexcept { return values_; }
    /// The entries of a rank, those that are left out included.
    [[nodiscard]] std::int64_t entries(int rank) const {
        return entries_[static_cast<std::size_t>(rank)];
    }
    /// Frees the matrix, which nothing may be made of any more; gather() goes on.
    void drop_matrix() { matrix_ = {}; }

private:
    /// What gather() refuses.
    void check(std::span<const T* const> coo_values) const;

    std::vector<value_gather<T>> gathers_; // [ranks]
    std::vector<std::int64_t> entries_;    // [ranks], of all of them
    std::vector<const T*> values_;         // [ranks], those of gathers_
    distributed_csr<T> matrix_;
    communicator comm_;
};

} // namespace krylith
