#include <krylith/spmspv/product.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/spmspv/product/multiply_steps.hpp>

namespace krylith::spmspv {

std::byte* product_scratch::at_least(std::size_t bytes) {
    if (bytes > memory_.size()) {
        const std::size_t grown = std::max(bytes, memory_.size() + memory_.size() / 2);
        memory_ = {}; // freed before the allocation: not both at once
        memory_ = {device_, grown, "sparse products"};
    }
    return memory_.data();
}

void refuse_product(const std::string& why) {
    throw usage_error("sparse product: " + why);
}

template <class M, class T>
std::int64_t count_frontier_nonzeros(const csr_csc_pair<M>& a, sparse_vector<T>& x) {
    if (x.size() != a.columns())
        refuse_product("x has " + std::to_string(x.size()) + " entries, must have " +
                       std::to_string(a.columns()) + ", as many as the matrix has columns");
    if (&x.device() != &a.device()) refuse_product("x lies on another device than the matrix");
    if (x.known_count() == 0) return 0;
    const bool pairs = x.forms().has(vector_form::pairs);
    if (!pairs) x.require(vector_form::bits);
    return KRYLITH_ON(a.device(),
                      count_frontier_nonzeros(a.device(), a.by_columns(), x.arrays(), pairs));
}

#define KRYLITH_INSTANTIATE(S, M)                                                                  \
    template void multiply<S, M>(kernel, const csr_csc_pair<M>&, sparse_vector<S::value_type>&,    \
                                 sparse_vector<S::value_type>&, product_scratch&,                  \
                                 const product_options<S::value_type>&, std::int64_t);
KRYLITH_FOR_PRODUCTS(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::int64_t count_frontier_nonzeros(const csr_csc_pair<double>&, sparse_vector<T>&); \
    template std::int64_t count_frontier_nonzeros(const csr_csc_pair<T>&,                          \
                                                  sparse_vector<std::int32_t>&);                   \
    template std::int64_t count_frontier_nonzeros(const csr_csc_pair<float>&, sparse_vector<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::spmspv
