// Approximate inverses over the devices of a group: their patterns and values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/ghost_rows.hpp>
#include <krylith/precond/approximate/inverse_rows.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

enum class inverse_kind {
    factor, ///< G with G'G near A^-1, on the lower triangle of the pattern
    whole   ///< M near A^-1, on the pattern
};

/// A matrix whose rows are small problems of rows of A, and what it takes to solve them again. It
/// is the same on any number of devices, bit for bit. The constructor and take() are collective.
/// Move-only.
template <class T>
class inverse_matrix {
public:
    /// Chooses entries of `pattern` of at least `floor`, 0 for all; its rows ascend and are those
    /// of A. Rows of more than longest_row entries keep those where `pattern` is largest. Fetches
    /// rows of A for it. `name` begins messages. Waits for the devices.
    inverse_matrix(std::string name, const distributed_csr<T>& a, const distributed_csr<T>& pattern,
                   inverse_kind kind, double floor = 0);

    /// Computes the values of a matrix of the pattern of the constructor's A. Where it throws, the
    /// values of matrix() are undefined. Waits for the devices. Throws input_error naming the first
    /// row whose problem has no solution, by the caller's number.
    void take(const layout& layout, const distributed_csr<T>& a);

    [[nodiscard]] const distributed_csr<T>& matrix() const noexcept { return matrix_; }
    /// The exponent of the largest value; 0 where there is none.
    [[nodiscard]] int exponent() const noexcept { return exponent_; }
    /// The bytes on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const;

private:
    void fetch_pattern(const distributed_csr<T>& a);
    [[nodiscard]] rows_of_matrix<T> rows_for(const distributed_csr<T>& a, int rank) const;

    /// The rows of A for the local columns of a rank.
    struct fetched_rows {
        buffer<std::int64_t> offsets;
        buffer<std::int32_t> columns;
        buffer<T> values;
    };

    std::string name_;
    inverse_kind kind_;
    int longest_ = 0;
    int exponent_ = 0;
    distributed_csr<T> matrix_;
    ghost_rows ghosts_;
    std::vector<fetched_rows> fetched_; ///< [ranks]; empty on one rank, which has all rows
};

/// The square of the matrix of |a_ij| / sqrt(|a_ii a_jj|), of which entries below `floor` are left
/// out. Rows of A ascend, and so do those of the result. Waits for the devices. Collective.
template <class T>
[[nodiscard]] distributed_csr<T> squared_couplings(const distributed_csr<T>& a, double floor);

} // namespace krylith::detail
