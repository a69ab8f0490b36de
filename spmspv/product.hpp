// y = A x for a sparse or dense x and y by one of eight kernels, over a semiring, on one device.
//
// Kernels read and leave these forms of x and y; others are converted before and after:
//
//     spmv, spmv-balanced     dense          -> dense
//     row, row-balanced       dense, bits    -> dense, bits   dense is read only where bits are set
//     column-*-atomic         pairs          -> pairs with dense and bits, or dense alone
//     column-*-sort           pairs          -> ascending pairs, or dense alone
//
// y has entries in the rows with an entry in a column where x has one, whatever the values (spmv:
// where the result is not absent()).
//
// Cost (fp32): spmv and row move 8 nnz + 12 m bytes and what is read of x, or 4 nnz where the
// semiring reads no values; row kernels read values and x only where x has entries. Column kernels
// are O(frontier nonzeros), the nonzeros in the columns where x has entries, and never O(m), as
// long as y is wanted as pairs: they add into y's own dense and bits, which are cleaned by the
// pairs that y held before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmspv/csr_csc_pair.hpp>
#include <krylith/spmspv/product/kernel_name.hpp>
#include <krylith/spmspv/semiring.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::spmspv {

/// Whether the semiring takes alpha and beta.
template <class S>
inline constexpr bool scales = std::is_same_v<S, plus_times<typename S::value_type>>;

template <class T>
struct product_options {
    vector_form wanted = vector_form::dense; ///< the form of y: pairs or dense; bits count as dense
    /// Whether y may stay in the forms that the kernel leaves, for callers that read any form:
    /// column kernels as for `wanted`, dense of the others. It saves a conversion.
    bool as_it_comes = false;
    T alpha = 1; ///< plus_times only: y = alpha A x + beta y
    T beta = 0;  ///< 0 never reads y; else y must be wanted dense, and bits are not left
    /// Bits of rows, ceil(m / 32) words on the device, or null: rows whose bit is set are skipped,
    /// y has no entry there. Needs beta = 0.
    const std::uint32_t* skip_rows = nullptr;
};

/// Memory of column kernels that grows to what products need: up to 8 nnz_x + 128 KiB, and with
/// sort 10 + 2 s bytes more for each frontier nonzero. One product at a time.
class product_scratch {
public:
    explicit product_scratch(std::shared_ptr<krylith::device> device)
        : device_(std::move(device)) {}
    /// Returns at least that many bytes, 256-byte aligned; the contents are lost if it grows. It
    /// grows by half at least, so that a run of products allocates a few times.
    [[nodiscard]] std::byte* at_least(std::size_t bytes);
    [[nodiscard]] const krylith::device& device() const { return *device_; }

private:
    unmoved<std::shared_ptr<krylith::device>> device_;
    buffer<std::byte> memory_;
};

/// Enqueues y = A x. `a` has the values of S (or any, for semirings that don't read them: M is then
/// double or float, S::value_type what it may). x gains the forms that the kernel reads (of dense
/// and bits, row kernels need bits alone where the semiring doesn't read values of x); y loses its
/// content, unless beta is not 0. Waits for the device where a column kernel with sort needs the
/// number of frontier nonzeros, and the host doesn't know it (`frontier_nonzeros` < 0; a given
/// number must be count_frontier_nonzeros() or more). Throws usage_error for sizes that disagree, x
/// and y the same, absent() of x or y other than the semiring's, other devices than that of the
/// matrix, or options that contradict each other; device_error where memory is short.
template <class S, class M>
void multiply(kernel k, const csr_csc_pair<M>& a, sparse_vector<typename S::value_type>& x,
              sparse_vector<typename S::value_type>& y, product_scratch& scratch,
              const product_options<typename S::value_type>& options = {},
              std::int64_t frontier_nonzeros = -1);

/// Returns the number of nonzeros in the columns where x has entries, from any form of x.
/// O(entries), or O(n) from bits and dense. Waits for the device.
template <class M, class T>
[[nodiscard]] std::int64_t count_frontier_nonzeros(const csr_csc_pair<M>& a, sparse_vector<T>& x);

/// A product as kernels take it; plain data. M is the type of the matrix values.
template <class S, class M>
struct product_arguments {
    using T = typename S::value_type;
    compressed_view<M> rows;
    compressed_view<M> columns;
    vector_arrays<T> x;
    vector_arrays<T> y;
    T alpha;
    T beta;
    const std::uint32_t* skip_rows;
    bool pairs;                     ///< y is wanted as pairs (column kernels)
    row_chunks chunks;              ///< of the matrix
    std::byte* scratch;             ///< kernel_scratch_bytes()
    std::int64_t entries;           ///< entries of x if the host knows them, else an upper bound
    std::int64_t frontier_nonzeros; ///< always known for sort; -1: not known
};

/// Calls instantiate(S, M) for each pair of a semiring and a type of matrix values that products
/// exist for: the same type where the semiring reads values, else any.
#define KRYLITH_FOR_PRODUCTS(instantiate)                                                          \
    KRYLITH_FOR_OWN_VALUES(instantiate, krylith::spmspv::plus_times)                               \
    KRYLITH_FOR_ANY_VALUES(instantiate, krylith::spmspv::plus_second<double>)                      \
    KRYLITH_FOR_ANY_VALUES(instantiate, krylith::spmspv::plus_second<float>)                       \
    KRYLITH_FOR_ANY_VALUES(instantiate, krylith::spmspv::or_and<double>)                           \
    KRYLITH_FOR_ANY_VALUES(instantiate, krylith::spmspv::or_and<float>)                            \
    KRYLITH_FOR_OWN_VALUES(instantiate, krylith::spmspv::min_plus)                                 \
    KRYLITH_FOR_ANY_VALUES(instantiate, krylith::spmspv::min_column)
#define KRYLITH_FOR_OWN_VALUES(instantiate, S)                                                     \
    instantiate(S<double>, double) instantiate(S<float>, float)
#define KRYLITH_FOR_ANY_VALUES(instantiate, S) instantiate(S, double) instantiate(S, float)

} // namespace krylith::spmspv

// The kernels, for each semiring S of semiring.hpp with M double and float (the same type as S
// where it reads values). y's arrays are as overwrite() gave them: for atomic kernels with pairs
// dense and bits are clean; for dense alone, column kernels fill or scale it themselves. Kernels
// that give pairs write the count.
namespace krylith {

KRYLITH_HOST_AND_CUDA(
    template <class S, class M>
    void multiply(device& device, spmspv::kernel k, const spmspv::product_arguments<S, M>& a);
    template <class T>
    [[nodiscard]] std::size_t kernel_scratch_bytes(const device& device, spmspv::kernel k,
                                                   std::int64_t entries,
                                                   std::int64_t frontier_nonzeros);
    /// The sum of the columns' lengths over x, from pairs if has_pairs, else from bits. Waits.
    template <class M, class T>
    [[nodiscard]] std::int64_t count_frontier_nonzeros(device & device,
                                                       const spmspv::compressed_view<M>& columns,
                                                       const spmspv::vector_arrays<T>& x,
                                                       bool has_pairs);)

} // namespace krylith
