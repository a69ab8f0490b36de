// What an operator is built from.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/partition/replicated/block_partition.hpp>
#include <krylith/spmv/operator_options.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// The pattern of a matrix, and the rows and columns that each device of a group owns.
struct operator_pattern {
    const communicator& comm;
    std::span<const std::int64_t> row_offsets;
    std::span<const std::int32_t> column_indices;
    longest_row longest; ///< the longest row, from the validation of the matrix
    row_partition rows;
    row_partition columns; ///< of a square matrix mostly the same
    /// The format, the transport and the fractions that were asked for; the kind may be another.
    const operator_options& options;
    /// The same pattern on the devices, or null.
    std::shared_ptr<resident_matrix> resident = nullptr;
    /// The fractions of operators that have any, once they are chosen.
    row_fractions fractions = {};

    /// The halo plan, made once: the cost model needs it too.
    [[nodiscard]] const halo_plan& halo() {
        if (!halo_)
            halo_ = resident ? make_halo_plan(*resident, rows, columns)
                             : make_halo_plan(row_offsets, column_indices, rows, columns);
        return *halo_;
    }
    /// Frees the halo plan, which may be larger than the matrix.
    void drop_halo() { halo_.reset(); }
    /// Brings the offsets of rows to the host where only the devices have them: 8 bytes a row.
    void read_offsets() {
        if (!resident || !row_offsets.empty()) return;
        offsets_ = resident->download_offsets();
        row_offsets = offsets_;
    }

    std::optional<halo_plan> halo_ = {};
    std::vector<std::int64_t> offsets_ = {}; ///< that read_offsets() has brought
};

/// What operators with the halo plan do for the members plan and received of operator_method.
inline void plan_halo(operator_kind /*kind*/, operator_pattern& pattern) {
    (void)pattern.halo();
}
[[nodiscard]] inline std::int64_t received_by_halo(const halo_plan& plan, int rank) {
    return plan.ghost_count(rank);
}

template <class T>
struct operator_subject : operator_pattern {
    matrix_source<T> source;
    /// The layouts of the vectors where they were made for other operators; rows and columns are
    /// theirs.
    std::optional<operator_layouts> layouts;

    operator_subject(const communicator& comm, matrix_source<T> from, row_partition of_rows,
                     row_partition of_columns, std::optional<operator_layouts> given,
                     const operator_options& options)
        : operator_pattern{comm,
                           from.matrix.row_offsets,
                           from.matrix.column_indices,
                           from.longest,
                           std::move(of_rows),
                           std::move(of_columns),
                           options,
                           from.resident},
          source(std::move(from)),
          layouts(std::move(given)) {}

    [[nodiscard]] bool square() const { return source.matrix.rows == source.matrix.columns; }

    /// Returns the layouts of vectors.
    [[nodiscard]] operator_layouts spread(coherence kind) const {
        return layouts ? *layouts : make_layouts(comm, rows, columns, kind, source.order);
    }
};

} // namespace krylith
