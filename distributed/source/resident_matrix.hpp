// The pattern of a matrix in memory of the CUDA devices of a group, where plans, local columns and
// formats are made of it: the host only cuts it into the rows of each device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/distributed/source/resident_columns.hpp>
#include <krylith/distributed/source/row_starts.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/sparse/pattern/device_pattern.hpp>

namespace krylith {

/// The rows of one device.
struct resident_rows {
    buffer<std::int64_t> offsets;          ///< [rows + 1] from 0
    buffer<std::int32_t> uploaded;         ///< columns that came from the host
    const std::int32_t* columns = nullptr; ///< [nonzeros], global, or numbers of `numbers`
    block_lengths lengths;
    std::optional<local_columns> numbers = {}; ///< only halo plans take such rows

    /// What a plan finds out besides the lists of ghosts.
    buffer<std::uint8_t> touches_ghost = {}; ///< [rows], as boundary_rows has it
    std::int64_t interior_rows = 0;          ///< rows that touch none
    resident_set ghosts = {};

    [[nodiscard]] device_pattern pattern() const {
        return {offsets.data(), columns, nullptr, lengths};
    }
    [[nodiscard]] resident_csr csr() const {
        return {offsets.data(), columns, lengths.rows, lengths.nonzeros};
    }
};

struct resident_matrix {
    communicator comm;
    row_partition rows;
    std::int64_t columns = 0;
    std::vector<resident_rows> parts; ///< [ranks]

    /// Makes the lengths of all ranks' rows known to all drivers; without it, each knows its own.
    void share_lengths();
    /// The longest row, the first of several, as validate() returns it.
    [[nodiscard]] longest_row longest() const;
    /// The nonzeros before the first row of each device.
    [[nodiscard]] row_starts starts() const;
    /// The offsets of all rows. Waits for the devices.
    [[nodiscard]] std::vector<std::int64_t> download_offsets() const;
};

/// A device's rows with local columns, while its block is made.
struct resident_block {
    device_pattern pattern;
    buffer<std::int32_t> columns; ///< empty where they have local numbers already
};

/// Uploads the pattern of a matrix in host memory and validates it on the devices, of which each
/// gets the rows that it owns: 8 bytes a row and 4 a nonzero there. Throws what validate() of the
/// matrix throws.
template <class T>
[[nodiscard]] std::shared_ptr<resident_matrix>
upload_pattern(const communicator& comm, const csr_view<T>& matrix, const row_partition& rows);

/// The rows of a matrix on a device, from its arrays there: offsets, of either width, that may
/// begin with any number, and columns, which are borrowed.
struct given_rows {
    std::int64_t rows = 0;
    const std::int32_t* narrow_offsets = nullptr;
    const std::int64_t* wide_offsets = nullptr;
    const std::int32_t* columns = nullptr;
};

/// Validates the pattern of arrays that lie on the devices; 8 bytes a row there. Null where it is
/// invalid.
[[nodiscard]] std::shared_ptr<resident_matrix>
take_pattern(const communicator& comm, std::span<const given_rows> given, std::int64_t columns);

/// The rows of a valid matrix on a device, whose columns have local numbers.
struct numbered_rows {
    std::int64_t rows = 0;
    const std::int64_t* offsets = nullptr; ///< from 0
    const std::int32_t* columns = nullptr; ///< numbers of `numbers`
    local_columns numbers;
};

/// Takes such rows for halo plans, of which the ghosts are known: 8 bytes a row on each device.
[[nodiscard]] std::shared_ptr<resident_matrix>
take_numbered(const communicator& comm, std::span<const numbered_rows> given, std::int64_t columns);

/// Returns the fraction of scattered nonzeros in a sample of a device's rows (measure_pattern()).
[[nodiscard]] double scattered_fraction(const resident_matrix& matrix, int rank,
                                        std::int64_t value_bytes);

/// Plans the exchanges on the devices: the plans that the functions of these names make on the
/// host, but touches_ghost stays on the devices. n / 4 bytes there for n columns, and the ghosts
/// travel.
[[nodiscard]] halo_plan make_halo_plan(resident_matrix& matrix, row_partition of_rows,
                                       row_partition of_columns);
[[nodiscard]] halo_plan make_allgather_plan(resident_matrix& matrix, row_partition of_rows,
                                            row_partition of_columns);

/// Numbers the columns of a rank as the plan, which was made last of this matrix, says: 4 bytes a
/// nonzero on the device, none where the rank has all columns or they are numbered already.
[[nodiscard]] resident_block local_block(const resident_matrix& matrix, const halo_plan& plan,
                                         int rank);

/// Sets the lengths of rows with valid offsets. Waits for the device.
void measure_rows(const std::shared_ptr<device>& device, resident_rows& rows);

/// Gives the columns of blocks on the device of a rank that owns those of `owned`, of `columns`,
/// local numbers in place of global ones, and finds out which rows touch ghosts. Waits for the
/// device.
[[nodiscard]] local_indices number_blocks(const std::shared_ptr<device>& device, row_range owned,
                                          std::int64_t columns,
                                          std::span<resident_rows* const> blocks);

/// Whether operators of this group are made of patterns on its devices: they are of CUDA, and the
/// library was built with it.
[[nodiscard]] bool makes_operators_there(const communicator& comm) noexcept;

} // namespace krylith
