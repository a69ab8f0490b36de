#include <krylith/sparse/sell/coded_matrix.hpp>

#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/sell/coded_kernel.cuh>

namespace krylith::cuda {

namespace {

template <value_code Form, class T>
void apply_form(device& device, const spmv_arguments<T>& a, const sell_view<T>& m) {
    launch_rows(device, a, m.groups, m,
                [](auto dots, auto shared) { return coded_kernel<T, dots(), shared(), Form>; });
}

} // namespace

template <class T>
void apply_coded(device& device, const spmv_arguments<T>& a, const sell_view<T>& m,
                 value_code form) {
    if (form == value_code::table) return apply_form<value_code::table>(device, a, m);
    if (form == value_code::halved) return apply_form<value_code::halved>(device, a, m);
    apply_form<value_code::full>(device, a, m);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void apply_coded(device&, const spmv_arguments<T>&, const sell_view<T>&, value_code);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
