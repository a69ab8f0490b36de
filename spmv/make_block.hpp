// Builds one device's block in a format.
#pragma once

#include <memory>

#include <krylith/spmv/local_matrix.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// local_kind::automatic is what choose_format() says on CUDA devices, but for a block that borrows
/// arrays no sell, which has an order of its own; on host devices it is csr. Throws usage_error for
/// a format that the device doesn't have.
template <class T>
[[nodiscard]] std::unique_ptr<local_matrix<T>>
make_block(const std::shared_ptr<device>& where, const local_block<T>& block, local_kind kind);

extern template std::unique_ptr<local_matrix<double>>
make_block(const std::shared_ptr<device>&, const local_block<double>&, local_kind);
extern template std::unique_ptr<local_matrix<float>>
make_block(const std::shared_ptr<device>&, const local_block<float>&, local_kind);

} // namespace krylith
