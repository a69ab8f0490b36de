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
#include <krylith/precond/polynomial/scaled_matrix.hpp>
#include <krylith/vector/kept/execution_register.hpp>

namespace krylith::detail {

/// The same for any W.
template <class T>
class chebyshev_work {
public:
    virtual ~chebyshev_work() = default;
    virtual void update(const csr_view<T>& matrix) = 0;
    virtual void apply(execution& run, const vector<T>& r, vector<T>& z,
                       std::span<const reduction_into<T>> dots) = 0;
    [[nodiscard]] virtual bool recordable() const = 0;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
    [[nodiscard]] virtual double lambda() const = 0;
};

template <class T, class W>
class chebyshev_apply final : public chebyshev_work<T> {
public:
    /// The options are checked.
    chebyshev_apply(const matrix_operator<T>& a, const csr_view<T>& matrix,
                    const chebyshev_options& options);

    void update(const csr_view<T>& matrix) override;
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override;
    [[nodiscard]] bool recordable() const override { return x_->recordable(); }
    [[nodiscard]] std::int64_t bytes() const override;
    [[nodiscard]] double lambda() const override { return lambda_; }

private:
    /// What new values of the matrix give.
    struct contents {
        diagonal_scaling scaling;
        std::vector<W> values; ///< of the canonical matrix in the operator's order of rows
        chebyshev_series series;
    };
    [[nodiscard]] contents compute(const csr_view<T>& matrix) const;
    void take(const contents& now);

    chebyshev_options options_;
    /// Of T_j(X) S r in the sum that makes z, where the largest eigenvalue is 1: others of the same
    /// ratio only divide the sum, so new values of the matrix leave them as they are.
    std::vector<double> coefficients_;
    layout_handle layout_; ///< of the solver's operator, of one column
    int columns_;          ///< of the vectors
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
