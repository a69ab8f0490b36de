// A preconditioner that is chosen at run time.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/erased/preconditioner_model.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Owns a preconditioner of any type, or none: solvers take it like the one that it holds, and like
/// no preconditioner where it is empty, with the same kernels, the same bits and the same memory.
/// It may be moved, also while terms of pointwise() are in use; one that was moved from throws
/// usage_error from every function but is_identity(), which is false.
template <class T>
class any_preconditioner {
public:
    /// M = I.
    any_preconditioner() = default;
    any_preconditioner(identity) {} // NOLINT: none is a preconditioner

    /// Takes `m` over. A class that can't be moved is held by std::ref.
    template <class M>
    requires(!std::same_as<M, any_preconditioner> && applied_preconditioner<M, T>)
        any_preconditioner(M m) // NOLINT: any preconditioner is one
        : model_(std::make_unique<detail::held_preconditioner<M, T>>(std::move(m)).release()) {}

    /// Refers to `m`, which must outlive it: std::ref(m), or std::cref(m), which can't be updated.
    template <class M>
    requires(!std::same_as<std::remove_const_t<M>, any_preconditioner> &&
             applied_preconditioner<std::remove_const_t<M>, T>)
        any_preconditioner(std::reference_wrapper<M> m) // NOLINT: any preconditioner is one
        : model_(std::make_unique<detail::held_preconditioner<M&, T>>(m.get()).release()) {}

    any_preconditioner(any_preconditioner&& other) noexcept
        : model_(std::exchange(other.model_, detail::moved_from<T>())) {}
    any_preconditioner& operator=(any_preconditioner&& other) noexcept {
        if (this != &other) model_ = std::exchange(other.model_, detail::moved_from<T>());
        return *this;
    }
    ~any_preconditioner() = default;

    [[nodiscard]] bool is_identity() const { return model_ == nullptr; }

    /// What the concept in preconditioner.hpp says. M = I copies r, keeps nothing and is "none".
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots = {}) const;
    [[nodiscard]] std::optional<term<T>> pointwise(const vector<T>& r) const;
    [[nodiscard]] bool recordable() const { return !model_ || model_->recordable(); }
    [[nodiscard]] std::int64_t bytes() const { return model_ ? model_->bytes() : 0; }
    [[nodiscard]] std::string name() const { return model_ ? model_->name() : identity::name(); }
    /// The kernels that an application enqueues.
    [[nodiscard]] int kernels() const { return model_ ? model_->kernels() : 1; }
    [[nodiscard]] bool varies() const { return model_ && model_->varies(); }
    [[nodiscard]] bool symmetric() const { return !model_ || model_->symmetric(); }
    /// The levels of a multigrid hierarchy; empty where it holds none.
    [[nodiscard]] std::vector<multigrid_level_facts> levels() const {
        return model_ ? model_->levels() : std::vector<multigrid_level_facts>();
    }
    /// That of the preconditioner that it holds; null where that has none, and for M = I.
    [[nodiscard]] const recording_identity* recording() const {
        return model_ ? model_->recording() : nullptr;
    }

    /// Returns M^(1/2). Throws usage_error naming M where it has none. Collective.
    [[nodiscard]] any_preconditioner square_root() const;

    /// Takes new values, of the operator or of a matrix of the same pattern (ilu0, ic0 and ilut
    /// also of another). Throws usage_error naming M where it can't take them so. Collective.
    void update(const matrix_operator<T>& a);
    void update(const matrix_ref<T>& matrix);
    /// Tells it the iterations of a solve that converged, by which some judge how update() must go.
    void solved(std::int64_t iterations) {
        if (model_) model_->solved(iterations);
    }

private:
    explicit any_preconditioner(std::unique_ptr<detail::preconditioner_model<T>> model)
        : model_(model.release()) {}

    detail::model_pointer<T> model_; ///< null: M = I
};

/// Makes the preconditioner that a text names, NAME[:KEY=VALUE]..., such as "jacobi", for an
/// operator of a matrix; "none" is any_preconditioner<T>(). Throws usage_error that names what is
/// wrong with the text, the nearest valid name and what is allowed, or what M needs in place of
/// this operator, and what the constructor of M throws. Collective.
template <class T>
[[nodiscard]] any_preconditioner<T> make_preconditioner(std::string_view text,
                                                        const matrix_operator<T>& a);

/// The same with the matrix, for an operator that doesn't know its own entries and for
/// preconditioners that need more of it than operators keep.
template <class T>
[[nodiscard]] any_preconditioner<T>
make_preconditioner(std::string_view text, const matrix_operator<T>& a,
                    const std::type_identity_t<matrix_ref<T>>& matrix);

/// What is known of a system of several unknowns a node, as of elasticity, beside its matrix:
///
///     const std::vector<double> modes = rigid_body_modes(coordinates, 3);
///     const matrix_nodes nodes{.block_size = 3, .near_null = modes};
///     const solve_result result = solve(*a, matrix, b, x, {}, nodes);
///
/// The operator should keep nodes whole (operator_options::block_size).
struct matrix_nodes {
    /// Rows of a node, consecutive ones: 1 to 12, a divisor of the number of rows.
    int block_size = 1;
    /// What A maps to nearly 0, as amg_options::near_null takes it: 1 to 12 vectors of n entries in
    /// the caller's order of rows, one vector after the other, such as rigid_body_modes(). Empty:
    /// nothing is known. It refers to an array of the caller's.
    std::span<const double> near_null = {};

    /// Whether this says more than that each row is a node.
    [[nodiscard]] bool known() const { return block_size != 1 || !near_null.empty(); }
    /// Throws usage_error naming the member that doesn't suit a matrix of so many rows. It doesn't
    /// read the vectors.
    void check(std::int64_t rows) const;
};

/// The same for a matrix with nodes: amg takes both members, block-jacobi the rows of a node,
/// unless the text has another block_size; others are made as without.
template <class T>
[[nodiscard]] any_preconditioner<T>
make_preconditioner(std::string_view text, const matrix_operator<T>& a,
                    const std::type_identity_t<matrix_ref<T>>& matrix, const matrix_nodes& nodes);

/// The names that a text may begin with: none, then the rows of the table in their order
/// (precond/table/preconditioner_table.hpp).
[[nodiscard]] std::vector<std::string_view> preconditioner_names();

} // namespace krylith
