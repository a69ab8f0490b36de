#include <krylith/precond/matrix/canonical_matrix.hpp>

#include <krylith/matrix/conversions.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>

namespace krylith::detail {

template <class T>
canonical_matrix<T>::canonical_matrix(const csr_view<T>& given, const permutation* order)
    : view_(given) {
    (void)validate(given);
    if (order != nullptr) {
        own_ = reordered(given, *order).matrix;
        view_ = own_;
    }
    if (!canonical(view_)) {
        own_ = to_csr(to_coo(view_));
        view_ = own_;
    }
}

#define KRYLITH_INSTANTIATE(T) template class canonical_matrix<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
