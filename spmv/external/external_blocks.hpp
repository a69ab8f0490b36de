// A product function of the user as the blocks of an operator.
#pragma once

#include <krylith/distributed/source/block_maker.hpp>
#include <krylith/sparse/external/product_call.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Returns the maker of blocks that call `function`.
template <class T>
[[nodiscard]] block_maker<T> external_blocks(product_function<T> function, product_kind kind);

} // namespace krylith
