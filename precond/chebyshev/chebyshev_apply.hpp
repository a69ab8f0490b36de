// The application of a Chebyshev preconditioner whose matrix and vectors are of type W, under a
// solver whose vectors are of type T.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <krylith/precond/chebyshev.hpp>
#include <krylith/precond/matrix/matrix_pattern.hpp>
#include <krylith/precond/matrix/matrix_preconditioner.hpp>
#include <krylith/precond/scaling/diagonal_scaling.hpp>
#include <krylith/vector/kept/execution_register.hpp>

namespace krylith::detail {

/// The same for any W.
template <class T>
class chebyshev_work : public matrix_work<T> {
public:
    [[nodiscard]] virtual double lambda() const = 0;
};

template <class T, class W>
class chebyshev_apply final : public chebyshev_work<T> {
public:
    /// The options are checked.
    chebyshev_apply(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                    const chebyshev_options& options);

    bool update(const matrix_ref<T>& matrix) override;
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override;
    [[nodiscard]] bool recordable() const override { return x_->recordable(); }
    /// Products, a sum for every second one, and the passes in and out.
    [[nodiscard]] int kernels() const override { return options_.degree + options_.degree / 2 + 3; }
    [[nodiscard]] std::int64_t bytes() const override;
    [[nodiscard]] double lambda() const override { return lambda_; }

private:
    /// What new values of the matrix give.
    struct contents {
        matrix_pattern pattern;
        diagonal_scaling scaling;
        distributed_csr<W> x; ///< (center I - D^-1/2 A D^-1/2) / radius
    };
    [[nodiscard]] contents compute(const matrix_ref<T>& matrix) const;
    void take(const contents& now);
    /// Takes vectors in the order in which rows lie.
    void run_polynomial(execution& run, const vector<T>& r, vector<T>& z,
                        std::span<const reduction_into<T>> dots);

    chebyshev_options options_;
    /// Of T_j(X) S r in the sum that makes z, where the largest eigenvalue is 1: others of the same
    /// ratio only divide the sum, so new values of the matrix leave them as they are.
    std::vector<double> coefficients_;
    layout_handle layout_;  ///< of the solver's operator, of one column
    layout_handle vectors_; ///< of what it is applied to
    int columns_;           ///< of these
    matrix_pattern pattern_;
    double lambda_ = 0;
    std::shared_ptr<double> size_ = std::make_shared<double>(1.0); ///< M^-1 = size S p S
    std::unique_ptr<matrix_operator<W>> x_;
    std::optional<vector<W>> s_;
    std::optional<vector<W>> even_, odd_; ///< T_j(X) S r for the last two j
    std::optional<vector<W>> sum_;
    execution_register norm_; ///< of r, squared
};

} // namespace krylith::detail
