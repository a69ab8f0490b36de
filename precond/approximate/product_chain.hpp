// The application of a preconditioner that is a product of matrices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::detail {

/// z = factor A_k ... A_1 r for square operators of one layout, which it owns: that of r and z, or
/// where this has an order of rows, without_order() of it. Vectors lie between
/// two of them, and a copy of r where A_1 needs ghosts of it.
template <class T>
class product_chain {
public:
    /// `name` is the preconditioner's, for messages.
    product_chain(std::string name, layout_handle layout,
                  std::vector<std::unique_ptr<matrix_operator<T>>> operators);

    /// Enqueues the products; up to two of the dots are computed by the last one.
    void apply(execution& run, T factor, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots);

    [[nodiscard]] matrix_operator<T>& at(std::size_t i) { return *operators_[i]; }
    [[nodiscard]] const layout& vectors() const { return *layout_; }
    [[nodiscard]] bool recordable() const;
    /// The kernels of an application.
    [[nodiscard]] int kernels() const {
        return static_cast<int>(operators_.size()) + (copy_ ? 1 : 0) + 1;
    }
    /// The bytes of the vectors on the device of a rank.
    [[nodiscard]] std::int64_t vector_bytes(int rank) const;
    /// These and what products read of the matrices.
    [[nodiscard]] std::int64_t bytes(int rank) const;

private:
    std::string name_;
    layout_handle layout_;
    std::vector<std::unique_ptr<matrix_operator<T>>> operators_;
    std::optional<vector<T>> copy_;
    std::vector<vector<T>> between_;
};

} // namespace krylith::detail
