// Products, sums and transposes of matrices over the devices of a group: C = A B, R A P,
// alpha A + beta B, A^T.
//
// A rank needs rows of other ranks for a product: the rows of B for the ghosts of A. Their pattern
// is fetched once, by the plan, and their values in each numeric phase, together with the rank's
// own into one matrix; then each rank runs the kernels for one device (sparse/spgemm.hpp,
// sparse/transpose.hpp). Sums are made in the order of global columns, so results have the same
// bits on any number of devices. On one rank nothing is fetched, copied or numbered anew: the cost
// is that of the classes for one device.
//
//     distributed_transposition<double> order(p);
//     distributed_csr<double> r = order.take(p);
//     distributed_galerkin<double> coarse(r, a, p); // coarse.result() is R A P
//
// Ranks work side by side; plans wait for the devices, numeric phases are only enqueued where one
// driver has all ranks. Constructors and all functions that compute are collective.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <krylith/distributed/distributed_csr.hpp>

namespace krylith {

/// The plan of C = A B, as spgemm on one device. The rows of B are partitioned as the columns of A;
/// C has the row partition of A and the column partition of B. Columns of B must ascend strictly in
/// each row, those of A may be in any order. The ghosts of C are the columns of the rows of B that
/// a rank has or fetches. Beside what spgemm keeps, where there are several ranks, the plan keeps a
/// copy of the rows of B that its rank has and fetches. Move-only.
template <class T>
class distributed_spgemm {
public:
    /// Runs the symbolic phase. Throws usage_error where groups differ, or the columns of A are
    /// partitioned in another way than the rows of B, and what spgemm throws; rows are counted in
    /// the whole matrix.
    distributed_spgemm(const distributed_csr<T>& a, const distributed_csr<T>& b);
    /// The same, and sets `c` to what take() would give, by the constructor of spgemm that does.
    distributed_spgemm(const distributed_csr<T>& a, const distributed_csr<T>& b,
                       distributed_csr<T>& c);
    distributed_spgemm(distributed_spgemm&&) noexcept;
    distributed_spgemm& operator=(distributed_spgemm&&) noexcept;
    ~distributed_spgemm();

    /// Computes C, with arrays of its own. A and B have the patterns that the plan was made of, and
    /// any values. Enqueued; throws usage_error where groups or numbers of nonzeros differ from
    /// those of the plan.
    [[nodiscard]] distributed_csr<T> multiply(const distributed_csr<T>& a,
                                              const distributed_csr<T>& b) const;
    /// The same where only refresh() is called afterwards: spgemm::take() of each rank.
    [[nodiscard]] distributed_csr<T> take(const distributed_csr<T>& a, const distributed_csr<T>& b);
    /// Computes the values of C anew, which has the pattern that multiply() gave. Enqueued. Throws
    /// as multiply() does.
    void refresh(const distributed_csr<T>& a, const distributed_csr<T>& b,
                 distributed_csr<T>& c) const;
    /// The most bytes that it keeps on a device.
    [[nodiscard]] std::int64_t bytes() const;

private:
    struct plan;
    /// Makes the plan, without products of the ranks.
    void prepare(const distributed_csr<T>& a, const distributed_csr<T>& b);

    unmoved<std::unique_ptr<plan>> plan_;
};

/// The pattern of A^T and where its entries come from, as transposition on one device. Rows of A^T
/// are partitioned as the columns of A, and its columns as the rows of A. Columns of A^T ascend in
/// each row, and entries of the same place keep their order. Each rank transposes its block; rows
/// of A^T that others own travel there. Move-only.
template <class T>
class distributed_transposition {
public:
    explicit distributed_transposition(const distributed_csr<T>& a);
    distributed_transposition(distributed_transposition&&) noexcept;
    distributed_transposition& operator=(distributed_transposition&&) noexcept;
    ~distributed_transposition();

    /// Returns A^T: a copy of its pattern, and the values of `a`, which has the pattern that the
    /// constructor was given. Enqueued. Throws usage_error where groups or numbers of nonzeros
    /// differ, and after take().
    [[nodiscard]] distributed_csr<T> apply(const distributed_csr<T>& a) const;
    /// Returns the same with the pattern itself, of which nothing is left here but where entries
    /// come from.
    [[nodiscard]] distributed_csr<T> take(const distributed_csr<T>& a);
    /// Writes the values of `a` into its transposed matrix. Enqueued: on one rank one gather; else
    /// another copy of all values, and those that travel. Throws as the other does.
    void apply(const distributed_csr<T>& a, distributed_csr<T>& transposed) const;
    /// The most bytes that it keeps on a device: as transposition, and where there are several
    /// ranks 16 a row of A^T and 20 a ghost more.
    [[nodiscard]] std::int64_t bytes() const;

private:
    struct plan;
    unmoved<std::unique_ptr<plan>> plan_;
};

/// Returns A^T, for one use.
template <class T>
[[nodiscard]] distributed_csr<T> transpose(const distributed_csr<T>& a) {
    return distributed_transposition<T>(a).take(a);
}

/// Returns alpha A + beta B, with the union of the patterns of A and B: entries that cancel out
/// stay. Columns must ascend strictly in each row of both. A product or a sum rounds each, so that
/// hosts and GPUs have the same bits. Two passes over both patterns, nothing travels; waits for the
/// devices. There may be any number of columns. Throws usage_error where groups or partitions
/// differ, and input_error for rows that don't ascend.
template <class T>
[[nodiscard]] distributed_csr<T> add(T alpha, const distributed_csr<T>& a, T beta,
                                     const distributed_csr<T>& b);

/// The product C = R (A P) of multigrid, with A P kept, so that new values of R, A and P cost no
/// symbolic work: galerkin_product on one device. Columns must ascend strictly in each row of P.
/// Move-only.
template <class T>
class distributed_galerkin {
public:
    /// Makes both plans and computes C. Throws as distributed_spgemm does.
    distributed_galerkin(const distributed_csr<T>& r, const distributed_csr<T>& a,
                         const distributed_csr<T>& p);

    /// C, with the row partition of R and the column partition of P.
    [[nodiscard]] const distributed_csr<T>& result() const noexcept { return result_; }
    /// A P.
    [[nodiscard]] const distributed_csr<T>& intermediate() const noexcept { return intermediate_; }
    /// Computes the values of A P and C anew, of matrices with the same patterns. Enqueued.
    void refresh(const distributed_csr<T>& r, const distributed_csr<T>& a,
                 const distributed_csr<T>& p);
    /// Computes the same into `c`, which take_result() gave.
    void refresh(const distributed_csr<T>& r, const distributed_csr<T>& a,
                 const distributed_csr<T>& p, distributed_csr<T>& c);
    /// Hands C over; refresh() needs a matrix to write to then.
    [[nodiscard]] distributed_csr<T> take_result() { return std::exchange(result_, {}); }
    /// The most bytes of both plans and of A P on a device.
    [[nodiscard]] std::int64_t bytes() const;

private:
    distributed_csr<T> intermediate_;
    distributed_csr<T> result_;
    distributed_spgemm<T> first_;
    distributed_spgemm<T> second_;
};

/// The pattern of a matrix with columns that ascend strictly in each row: entries are sorted, and
/// those of the same place are added up in the order in which they lie in the row. This is A I by
/// spgemm, which keeps an identity matrix of each rank's columns. Nothing travels. Move-only.
template <class T>
class sorted_rows {
public:
    explicit sorted_rows(const distributed_csr<T>& a);
    sorted_rows(sorted_rows&&) noexcept;
    sorted_rows& operator=(sorted_rows&&) noexcept;
    ~sorted_rows();

    /// Returns the sorted matrix of `a`, which has the pattern that the constructor was given.
    /// Enqueued.
    [[nodiscard]] distributed_csr<T> apply(const distributed_csr<T>& a) const;
    /// Writes new values of `a` into its sorted matrix. Enqueued.
    void apply(const distributed_csr<T>& a, distributed_csr<T>& sorted) const;
    /// The most bytes that it keeps on a device.
    [[nodiscard]] std::int64_t bytes() const;

private:
    struct plan;
    unmoved<std::unique_ptr<plan>> plan_;
};

} // namespace krylith
