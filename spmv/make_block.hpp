// Chooses and builds the format of one device's block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/spmv/local_matrix.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// local_kind::automatic takes SELL up to this share of padding: above, the bytes saved by unit
/// stride are lost again.
inline constexpr double most_sell_padding = 0.10;

/// local_kind::automatic takes merge path where one row has more than 1 / 132 of at least a million
/// nonzeros: csr would give it to one block of threads, sell to one thread, while all other
/// multiprocessors of a GPU (132 on an H200) are done.
[[nodiscard]] bool prefers_merge(std::span<const std::int64_t> offsets);

/// Throws usage_error for a format that the device doesn't have.
template <class T>
[[nodiscard]] std::unique_ptr<local_matrix<T>>
make_block(const std::shared_ptr<device>& where, const local_block<T>& block, local_kind kind);

extern template std::unique_ptr<local_matrix<double>>
make_block(const std::shared_ptr<device>&, const local_block<double>&, local_kind);
extern template std::unique_ptr<local_matrix<float>>
make_block(const std::shared_ptr<device>&, const local_block<float>&, local_kind);

} // namespace krylith
