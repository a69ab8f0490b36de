// The input of build_operator(): a pattern in host memory, on the devices or both, with its values
// in either.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <krylith/distributed/source/resident_matrix.hpp>
#include <krylith/distributed/source/row_starts.hpp>
#include <krylith/partition/ordering/reordering.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// The arrays of a device's rows in its memory.
template <class T>
struct part_arrays {
    const std::int32_t* columns = nullptr; ///< global, or local where the source says so
    const T* values = nullptr;
};

/// A matrix that is borrowed while its operator is built.
template <class T>
struct matrix_source {
    csr_view<T> matrix;  ///< values are empty where `parts` has them; offsets and columns are empty
                         ///< where only `resident` has them
    longest_row longest; ///< the longest row of `matrix`, from its validation
    std::vector<part_arrays<T>> parts = {}; ///< [ranks], or empty
    bool borrow = false;
    std::shared_ptr<const permutation> order = nullptr; ///< the order of `matrix`; null: the
                                                        ///< caller's
    /// The pattern on the devices, with the rows that each of them owns; null: operators are made
    /// of the one in host memory.
    std::shared_ptr<resident_matrix> resident = nullptr;

    /// Columns are local numbers, as halo plans count them: those of `parts`, or of `blocks`.
    bool numbered = false;
    std::vector<local_csr<T>> blocks = {};           ///< [ranks] of host devices, or empty
    std::optional<row_starts> starts_of_blocks = {}; ///< where there are blocks

    /// The nonzeros before rows.
    [[nodiscard]] row_starts starts() const {
        if (resident && matrix.row_offsets.empty()) return resident->starts();
        return starts_of_blocks ? *starts_of_blocks : row_starts(matrix.row_offsets);
    }

    /// The values of the parts' rows, [ranks].
    [[nodiscard]] std::vector<const T*> values_of_parts() const {
        std::vector<const T*> result;
        for (const part_arrays<T>& part : parts) result.push_back(part.values);
        return result;
    }

    /// Returns the rows of a device as the formats take them, with the columns of `matrix` or of
    /// `parts`; the pattern is that in host memory, if there is one.
    [[nodiscard]] local_csr<T> block(int rank, row_range rows) const {
        local_csr<T> b{};
        b.rows = rows.size();
        b.columns = matrix.columns;
        if (!parts.empty()) {
            b.device_indices = parts[static_cast<std::size_t>(rank)].columns;
            b.device_values = parts[static_cast<std::size_t>(rank)].values;
            b.borrow = borrow;
        }
        if (matrix.row_offsets.empty()) return b;
        const auto begin = static_cast<std::size_t>(rows.begin);
        const auto first = static_cast<std::size_t>(matrix.row_offsets[begin]);
        const auto last =
            static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(rows.end)]);
        b.offsets = matrix.row_offsets.subspan(begin, static_cast<std::size_t>(rows.size()) + 1);
        b.indices = matrix.column_indices.subspan(first, last - first);
        if (parts.empty()) b.values = matrix.values.subspan(first, last - first);
        return b;
    }
};

} // namespace krylith
