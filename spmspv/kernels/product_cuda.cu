// The eight products on CUDA: their kernels, and the scratch memory that they take.
#include <string>
#include <type_traits>

#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/error.hpp>
#include <krylith/spmspv/kernels/column_scratch.hpp>
#include <krylith/spmspv/kernels/product_launches.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::cuda {

namespace {

/// Values of the semiring's type; where it reads none, none.
template <class S, class M>
spmspv::compressed_view<typename S::value_type> plain(const spmspv::compressed_view<M>& a) {
    using T = typename S::value_type;
    const T* values = nullptr;
    if constexpr (S::reads_matrix) {
        static_assert(std::is_same_v<M, T>, "a semiring reads values of its own type");
        values = a.values;
    }
    return {a.offsets, a.indices, values, a.major_size, a.across, a.nonzeros};
}

} // namespace

template <class S, class M>
void multiply(device& device, spmspv::kernel k, const spmspv::product_arguments<S, M>& a) {
    const plain_arguments<S> plainly{
        plain<S>(a.rows), plain<S>(a.columns), a.x,     a.y,      a.alpha,
        a.beta,           a.skip_rows,         a.pairs, a.chunks, a.scratch,
        a.entries,        a.frontier_nonzeros};
    if (direction_of(k) != spmspv::direction::push) return multiply_by_rows<S>(device, k, plainly);
    const current_device current(device.ordinal()); // as in kernel_scratch_bytes()
    if (write_back_of(k) == spmspv::write_back::sort && a.frontier_nonzeros < 0)
        throw usage_error("sparse product by " + std::string(to_string(k)) +
                          ": frontier_nonzeros is not given, it must be counted before");
    multiply_by_columns<S>(device, k, plainly);
}

template <class T>
std::size_t kernel_scratch_bytes(const device& device, spmspv::kernel k, std::int64_t entries,
                                 std::int64_t frontier_nonzeros) {
    if (direction_of(k) != spmspv::direction::push) return 0;
    const current_device current(device.ordinal()); // sorting asks the current device what it needs
    return column_scratch<T>::in(nullptr, k, entries, frontier_nonzeros < 0 ? 0 : frontier_nonzeros)
        .bytes;
}

template std::size_t kernel_scratch_bytes<std::int32_t>(const device&, spmspv::kernel, std::int64_t,
                                                        std::int64_t);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::size_t kernel_scratch_bytes<T>(const device&, spmspv::kernel, std::int64_t,      \
                                                 std::int64_t);
#include <krylith/device/language/instantiate.inc>

#define KRYLITH_INSTANTIATE(S, M)                                                                  \
    template void multiply(device&, spmspv::kernel, const spmspv::product_arguments<S, M>&);
KRYLITH_FOR_PRODUCTS(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::cuda
