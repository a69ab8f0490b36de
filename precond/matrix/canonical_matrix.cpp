#include <krylith/precond/matrix/canonical_matrix.hpp>

#include <krylith/matrix/conversions.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>

namespace krylith::detail {

template <class T>
canonical_matrix<T>::canonical_matrix(const std::string& who, const layout& layout,
                                      const matrix_ref<T>& given) {
    if (given.on_host() == nullptr) {
        own_ = on_devices(who, layout, given, part_values::borrowed).download();
        view_ = own_;
        return;
    }
    view_ = *given.on_host();
    check_size(who, layout, view_.rows, view_.columns);
    (void)validate(view_);
    if (layout.order) {
        own_ = reordered(view_, *layout.order).matrix;
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
