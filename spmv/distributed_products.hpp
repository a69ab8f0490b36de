// Products and transposes of matrices over the devices of a group: C = A B, R A P, A^T.
//
// Rows of other ranks that a product needs are fetched once a numeric phase: rows of B for the
// ghosts of A. Each rank then runs the kernels for one device (sparse/spgemm.hpp). Sums are made in
// the order of global columns, so C has the same bits on any number of devices.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/spmv/distributed_csr.hpp>

namespace krylith {

/// The plan of C = A B, as spgemm on one device. The rows of B are partitioned as the columns of A;
/// C has the row partition of A and the column partition of B. Columns of both must ascend in each
/// row, those of B strictly. Move-only.
template <class T>
class distributed_spgemm {
public:
    /// Symbolic phase. Throws what spgemm throws, and usage_error where groups or partitions
    /// differ.
    distributed_spgemm(const distributed_csr<T>& a, const distributed_csr<T>& b);
    distributed_spgemm(distributed_spgemm&&) noexcept;
    distributed_spgemm& operator=(distributed_spgemm&&) noexcept;
    ~distributed_spgemm();

    [[nodiscard]] distributed_csr<T> multiply(const distributed_csr<T>& a,
                                              const distributed_csr<T>& b) const;
    /// Values of C anew, of matrices with the same patterns.
    void refresh(const distributed_csr<T>& a, const distributed_csr<T>& b,
                 distributed_csr<T>& c) const;
    /// The most bytes that it keeps on a device.
    [[nodiscard]] std::int64_t bytes() const noexcept;

private:
    struct plan;
    std::unique_ptr<plan> plan_;
};

/// The pattern of A^T and where its entries come from, as transposition on one device. Rows of A^T
/// are partitioned as the columns of A, and the reverse. Entries of a row ascend by column if rows
/// of A are... (the order of A's rows). Move-only.
template <class T>
class distributed_transposition {
public:
    explicit distributed_transposition(const distributed_csr<T>& a);
    distributed_transposition(distributed_transposition&&) noexcept;
    distributed_transposition& operator=(distributed_transposition&&) noexcept;
    ~distributed_transposition();

    [[nodiscard]] distributed_csr<T> apply(const distributed_csr<T>& a) const;
    /// New values of A into its transpose.
    void apply(const distributed_csr<T>& a, distributed_csr<T>& transposed) const;
    [[nodiscard]] std::int64_t bytes() const noexcept;

private:
    struct plan;
    std::unique_ptr<plan> plan_;
};

/// C = R (A P), with A P kept for refresh(), as galerkin_product on one device.
template <class T>
class distributed_galerkin {
public:
    distributed_galerkin(const distributed_csr<T>& r, const distributed_csr<T>& a,
                         const distributed_csr<T>& p);
    [[nodiscard]] const distributed_csr<T>& result() const noexcept { return result_; }
    void refresh(const distributed_csr<T>& r, const distributed_csr<T>& a,
                 const distributed_csr<T>& p);
    /// Hands C over; this object can only be destroyed then.
    [[nodiscard]] distributed_csr<T> take_result() && { return std::move(result_); }
    [[nodiscard]] std::int64_t bytes() const noexcept;

private:
    distributed_spgemm<T> first_;
    distributed_csr<T> intermediate_;
    distributed_spgemm<T> second_;
    distributed_csr<T> result_;
};

} // namespace krylith
