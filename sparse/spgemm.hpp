// Products of sparse matrices on one device: C = A B, and R A P of multigrid.
//
// Each product has two phases (the interface of Deveci, Trott, Rajamanickam, Multithreaded sparse
// matrix-matrix multiplication for many-core and GPU architectures, Parallel Computing 78, 2018).
// The symbolic phase finds the pattern of C and is kept; the numeric phase computes values, and may
// be repeated with other values of A and B. Rows are treated by the number of their products (Liu,
// Vinter, A framework for general sparse matrix-matrix multiplication on GPUs and heterogeneous
// processors, JPDC 85, 2015).
//
// Rows of C are sorted by columns; an entry that happens to be 0 is stored. c_ij is the sum of
// a_ik b_kj in the order in which the entries k lie in row i of A, each product and each sum
// rounded, so that all runs, host devices and GPUs give the same bits. A may have entries in any
// order, and several at one place. Columns of B must ascend strictly in each row.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/unmoved.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith {

/// What a product will need, as far as it is known before the pattern of C is. Bytes are upper
/// bounds.
struct spgemm_estimate {
    std::int64_t products = 0;      ///< multiplications of two numbers
    std::int64_t most_nonzeros = 0; ///< of C
    std::int64_t result_bytes = 0;  ///< of C
    std::int64_t extra_bytes = 0;   ///< kept by the plan, and scratch
};

namespace detail {
template <class T>
class spgemm_phases;
}

/// The plan of C = A B: what the symbolic phase found.
///
///     spgemm<double> plan(a, b);
///     device_csr<double> c = plan.multiply(a, b);
///     plan.refresh(a, b, c); // the values, of new ones of a and b
///
/// On host devices it keeps the pattern of C, 4 bytes a nonzero, until take(). On CUDA it keeps 16
/// bytes a row, and the place in C of each product, 1 byte, of rows with up to 1024 products, or
/// 4095 where most have few results, and 192 results; or for eight neighbouring rows, where these
/// refer to mostly the same rows of B, about 1.4 KB. Of longer rows, where C has more than 131072
/// columns, it keeps their columns, until take(). Squares of 7-point stencils need 0.24, of
/// 27-point ones 0.51 of C's bytes at most; R (A P) needs as many as C, with 27 points ten times as
/// many. Where A and B consist of dense blocks of at least 2 x 2 each, as matrices of nodes with
/// several unknowns do, a CUDA plan finds that out, and keeps their patterns of blocks alone.
/// Move-only; not thread-safe.
template <class T>
class spgemm {
public:
    /// Runs the symbolic phase on the device of A and waits for it. Throws usage_error where A and
    /// B lie on different devices or A has other columns than B rows, input_error where the columns
    /// of a row of B do not ascend strictly, and device_error where the memory is too small. Cost:
    /// O(products).
    spgemm(const device_csr<T>& a, const device_csr<T>& b);
    /// The same, and sets `c` to what take() would give: on hosts both phases are one pass, in
    /// about a third of the time.
    spgemm(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c);
    spgemm(spgemm&&) noexcept;
    spgemm& operator=(spgemm&&) noexcept;
    ~spgemm();

    /// Computes C, with arrays of its own. A and B have the patterns that the plan was made of, and
    /// any values. Enqueued; throws usage_error where sizes or nonzeros are not those of the plan.
    [[nodiscard]] device_csr<T> multiply(const device_csr<T>& a, const device_csr<T>& b) const;
    /// Computes the same with the pattern itself where a copy of it is kept, so that only refresh()
    /// can be called afterwards: multiply() and take() throw usage_error then.
    [[nodiscard]] device_csr<T> take(const device_csr<T>& a, const device_csr<T>& b);
    /// Computes the values of C, which has the pattern that multiply() gave, without a look at what
    /// they were. Enqueued. On CUDA devices it allocates nothing unless C has giant rows, whose
    /// entries, times 1/512 of those of their rows in A, are more than 2^28. Throws as multiply()
    /// does.
    void refresh(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c) const;

    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }       ///< of C
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; } ///< of C
    [[nodiscard]] std::int64_t nonzeros() const;                             ///< of C
    [[nodiscard]] std::int64_t products() const; ///< flops are twice as many
    [[nodiscard]] std::int64_t bytes() const;
    /// The most bytes of device memory in use at once by the plan and its scratch.
    [[nodiscard]] std::int64_t peak_bytes() const;

    /// Counts the products, in a few hundred bytes of device memory unless rows are long, and
    /// waits. Cost: O(nonzeros of A).
    [[nodiscard]] static spgemm_estimate estimate(const device_csr<T>& a, const device_csr<T>& b);

private:
    void check(const device_csr<T>& a, const device_csr<T>& b) const;
    void need_pattern() const;

    bool taken_ = false;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
    std::int64_t inner_ = 0; ///< columns of A, rows of B
    std::int64_t a_nonzeros_ = 0;
    std::int64_t b_nonzeros_ = 0;
    unmoved<std::unique_ptr<detail::spgemm_phases<T>>> phases_;
};

/// Returns C = A B, for one use.
template <class T>
[[nodiscard]] device_csr<T> multiply(const device_csr<T>& a, const device_csr<T>& b) {
    device_csr<T> c;
    const spgemm<T> plan(a, b, c);
    return c;
}

/// The Galerkin product C = R (A P) of multigrid, with A P kept, so that new values of R, A and P
/// cost no symbolic work. Columns must ascend strictly in each row of P. Move-only.
template <class T>
class galerkin_product {
public:
    /// Makes both plans and computes C. Throws as spgemm does.
    galerkin_product(const device_csr<T>& r, const device_csr<T>& a, const device_csr<T>& p);

    /// C, of as many rows as R and as many columns as P.
    [[nodiscard]] const device_csr<T>& result() const noexcept { return result_; }
    /// A P.
    [[nodiscard]] const device_csr<T>& intermediate() const noexcept { return intermediate_; }
    /// Computes the values of A P and C anew, of matrices with the same patterns. Enqueued.
    void refresh(const device_csr<T>& r, const device_csr<T>& a, const device_csr<T>& p);
    /// Hands C over; this object can only be destroyed then.
    [[nodiscard]] device_csr<T> take_result() && { return std::move(result_); }

    [[nodiscard]] const spgemm<T>& first() const noexcept { return first_; }   ///< A P
    [[nodiscard]] const spgemm<T>& second() const noexcept { return second_; } ///< R (A P)
    /// The bytes of both plans and of A P.
    [[nodiscard]] std::int64_t bytes() const;
    /// The most bytes in use at once beside R, A, P and C.
    [[nodiscard]] std::int64_t peak_bytes() const;

private:
    device_csr<T> intermediate_;
    device_csr<T> result_;
    spgemm<T> first_;
    spgemm<T> second_;
};

} // namespace krylith
