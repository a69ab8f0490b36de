#include <krylith/distributed/distributed_products.hpp>

namespace krylith {

template <class T>
distributed_galerkin<T>::distributed_galerkin(const distributed_csr<T>& r,
                                              const distributed_csr<T>& a,
                                              const distributed_csr<T>& p)
    : first_(a, p, intermediate_), second_(r, intermediate_, result_) {}

template <class T>
void distributed_galerkin<T>::refresh(const distributed_csr<T>& r, const distributed_csr<T>& a,
                                      const distributed_csr<T>& p) {
    refresh(r, a, p, result_);
}

template <class T>
void distributed_galerkin<T>::refresh(const distributed_csr<T>& r, const distributed_csr<T>& a,
                                      const distributed_csr<T>& p, distributed_csr<T>& c) {
    first_.refresh(a, p, intermediate_);
    second_.refresh(r, intermediate_, c);
}

template <class T>
std::int64_t distributed_galerkin<T>::bytes() const {
    return first_.bytes() + intermediate_.bytes() + second_.bytes();
}

#define KRYLITH_INSTANTIATE(T) template class distributed_galerkin<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
