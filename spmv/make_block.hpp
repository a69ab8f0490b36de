// Chooses and builds the format of one device's block.
#pragma once

#include <memory>

#include <krylith/spmv/local_matrix.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// local_kind::automatic takes SELL up to this share of padding: above, the bytes saved by unit
/// stride are lost again.
inline constexpr double most_sell_padding = 0.10;

/// Some rows of a matrix, with its columns; the matrix is borrowed.
template <class T>
[[nodiscard]] local_block<T> row_block(const csr_view<T>& matrix, row_range rows) {
    const auto begin = static_cast<std::size_t>(rows.begin);
    const auto first = static_cast<std::size_t>(matrix.row_offsets[begin]);
    const auto last =
        static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(rows.end)]);
    local_block<T> block{};
    block.rows = rows.size();
    block.columns = matrix.columns;
    block.offsets =
        matrix.row_offsets.subspan(begin, static_cast<std::size_t>(rows.size()) + 1);
    block.indices = matrix.column_indices.subspan(first, last - first);
    block.values = matrix.values.subspan(first, last - first);
    return block;
}

/// Throws usage_error for a format that the device doesn't have.
template <class T>
[[nodiscard]] std::unique_ptr<local_matrix<T>>
make_block(const std::shared_ptr<device>& where, const local_block<T>& block, local_kind kind);

extern template std::unique_ptr<local_matrix<double>>
make_block(const std::shared_ptr<device>&, const local_block<double>&, local_kind);
extern template std::unique_ptr<local_matrix<float>>
make_block(const std::shared_ptr<device>&, const local_block<float>&, local_kind);

} // namespace krylith
