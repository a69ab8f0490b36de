// A sparse approximate inverse as a preconditioner: what fsai and spai have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krylith/distributed/distributed_products.hpp>
#include <krylith/precond/approximate/inverse_matrix.hpp>
#include <krylith/precond/approximate/product_chain.hpp>
#include <krylith/precond/matrix/matrix_pattern.hpp>
#include <krylith/precond/matrix/matrix_preconditioner.hpp>
#include <krylith/precond/table/parameters.hpp>

namespace krylith::detail {

/// What is asked of it.
struct inverse_request {
    const char* who; ///< its name, for messages
    inverse_kind kind;
    int power;
    double threshold;

    /// Throws usage_error for a power or a threshold out of range.
    void check() const;
    /// The text that makes it.
    [[nodiscard]] std::string name() const;
};

[[nodiscard]] constexpr parameter_rule power_rule(int usual, const char* help) {
    return parameter_rule::whole("power", usual, 1, 2, help);
}
[[nodiscard]] constexpr parameter_rule threshold_rule(double usual) {
    return parameter_rule::real("threshold", usual, 0, 1,
                                "for power=2: smaller entries are left out");
}

/// M with its operator, or G and its transposed with theirs.
template <class T>
class inverse_work final : public matrix_work<T> {
public:
    inverse_work(const inverse_request& request, const matrix_operator<T>& of,
                 const matrix_ref<T>& matrix);

    bool update(const matrix_ref<T>& matrix) override;
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override {
        chain_->apply(run, factor(), r, z, dots);
    }
    [[nodiscard]] bool recordable() const override { return chain_->recordable(); }
    [[nodiscard]] int kernels() const override { return chain_->kernels(); }
    [[nodiscard]] std::int64_t bytes() const override;
    [[nodiscard]] std::int64_t nonzeros() const { return inverse_->matrix().nonzeros(); }

private:
    [[nodiscard]] distributed_csr<T> taken(const matrix_ref<T>& matrix) const;
    [[nodiscard]] T factor() const;

    inverse_request request_;
    layout_handle layout_; ///< of one column
    int columns_;
    matrix_pattern pattern_;
    std::optional<inverse_matrix<T>> inverse_;
    std::optional<distributed_transposition<T>> transposition_; ///< of G
    distributed_csr<T> transposed_;
    std::optional<product_chain<T>> chain_;
};

} // namespace krylith::detail
