// A matrix together with its transpose, for aggregates of a matrix that is not symmetric.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/distributed_products.hpp>

namespace krylith::aggregation {

/// The union of the patterns of A and A', which is symmetric, and values on it. A is square, with
/// one partition of rows and columns, and columns of a row ascend strictly. The same on any number
/// of devices, bit for bit. Move-only.
///
/// Cost: a transposition and a pass over both, with a copy of A' while it is made; it keeps where
/// the entries of A' come from, and the union. Waits for the devices.
template <class T>
class mirrored_matrix {
public:
    /// Values are a_ii, and off the diagonal max(|a_ij|, |a_ji|), negative but where both are
    /// positive: convection makes one of them positive, a direction of diffusion both.
    explicit mirrored_matrix(const distributed_csr<T>& a);

    /// Enqueues the values of A' into matrix(), 0 where it has no entry. A has the pattern of the
    /// constructor's, and any values.
    void take_transposed(const distributed_csr<T>& a);

    [[nodiscard]] const distributed_csr<T>& matrix() const noexcept { return matrix_; }
    /// The most bytes that it keeps on a device.
    [[nodiscard]] std::int64_t bytes() const noexcept {
        return transposition_.bytes() + transposed_.bytes() + matrix_.bytes();
    }

private:
    distributed_transposition<T> transposition_;
    distributed_csr<T> transposed_;
    distributed_csr<T> matrix_;
};

} // namespace krylith::aggregation
