#include <krylith/spmspv/adaptive_product.hpp>

#include <krylith/spmspv/adaptive_product/adaptive_steps.hpp>

namespace krylith::spmspv {

#define KRYLITH_INSTANTIATE(S, M) template class adaptive_product<S, M>;
KRYLITH_FOR_PRODUCTS(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::spmspv
