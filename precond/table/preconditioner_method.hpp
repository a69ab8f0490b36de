// The row of a preconditioner in the table of preconditioners
// (precond/table/preconditioner_table.hpp): what krylith must know of it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <krylith/device/tables/required.hpp>
#include <krylith/matrix/statistics.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/table/parameters.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// A function that makes M for an operator. `matrix` is what the operator was made of; null, unless
/// the row needs it: M takes its values from the operator.
template <class T>
using preconditioner_maker = any_preconditioner<T> (*)(const matrix_operator<T>& a,
                                                       const matrix_ref<T>* matrix,
                                                       const method_parameters& parameters);

struct preconditioner_makers {
    preconditioner_maker<double> fp64;
    preconditioner_maker<float> fp32;

    template <class T>
    [[nodiscard]] constexpr preconditioner_maker<T> of() const noexcept {
        if constexpr (std::is_same_v<T, double>)
            return fp64;
        else
            return fp32;
    }
};

/// The same with what is known of nodes.
template <class T>
using node_preconditioner_maker = any_preconditioner<T> (*)(const matrix_operator<T>& a,
                                                            const matrix_ref<T>* matrix,
                                                            const method_parameters& parameters,
                                                            const matrix_nodes& nodes);

struct node_preconditioner_makers {
    node_preconditioner_maker<double> fp64 = nullptr;
    node_preconditioner_maker<float> fp32 = nullptr;

    template <class T>
    [[nodiscard]] constexpr node_preconditioner_maker<T> of() const noexcept {
        if constexpr (std::is_same_v<T, double>)
            return fp64;
        else
            return fp32;
    }
};

/// What models of M depend on.
struct preconditioner_size {
    std::int64_t rows;        ///< entries of a vector on the device
    std::int64_t nnz;         ///< of the matrix on the device
    std::int64_t value_bytes; ///< of the solver's values
    std::int64_t ghosts = 0;  ///< entries that a domain vector has besides
};

/// What preconditioner_method::kept_bytes and moved_bytes are where there is no model.
[[nodiscard]] inline std::optional<std::int64_t> no_kept_bytes(const preconditioner_size&,
                                                               const method_parameters&) {
    return std::nullopt;
}
[[nodiscard]] inline std::optional<double> no_moved_bytes(const preconditioner_size&,
                                                          const method_parameters&) {
    return std::nullopt;
}

/// See preconditioner_method::chosen_from.
inline constexpr std::int64_t never_first = std::numeric_limits<std::int64_t>::max();

struct preconditioner_method {
    required_text name;
    name_list aliases = name_list::none(); ///< what others call it, in lower case
    required_text help;                    ///< a clause, such as "divides by the diagonal"
    required<std::span<const parameter_rule>> parameters;
    /// Whether A must be symmetric positive definite.
    required<bool> needs_spd;
    /// Whether it must have the matrix beside the operator.
    required<bool> needs_matrix;
    /// Whether all devices must be of one process, and have one driver (comm/communicator.hpp):
    /// with several it throws usage_error.
    bool one_process = false;
    /// Whether solvers apply it in their own updates.
    bool pointwise = false;
    /// Whether it doesn't approximate A but is to stand on both sides of it, M^-1/2 A M^-1/2.
    bool scales_both_sides = false;
    /// Whether `krylith recommend` tries it.
    required<bool> listed;
    /// The rows of A from which the choice by facts (solvers/automatic.hpp) takes it first; with
    /// fewer it stands behind the others, as it always does with never_first, and may then take as
    /// many iterations as its solver. Nothing where that never takes it.
    required<std::optional<std::int64_t>> chosen_from;
    /// Returns why it is no use for a matrix with these statistics; empty: it may be.
    required<std::string (*)(const matrix_statistics&)> no_use_because;
    /// Returns the bytes that it keeps on a device; nothing where no model has been worked out.
    required<std::optional<std::int64_t> (*)(const preconditioner_size&, const method_parameters&)>
        kept_bytes;
    /// Returns the bytes that one application reads and writes on a device; where it is pointwise,
    /// those that it adds to the solver's update, which stores z. Nothing where no model has been
    /// worked out.
    required<std::optional<double> (*)(const preconditioner_size&, const method_parameters&)>
        moved_bytes;
    required<preconditioner_makers> make;
    /// For one that is told of nodes; null where they make no difference.
    node_preconditioner_makers make_for_nodes = {};
    /// Whether M is symmetric positive definite where A is, though it takes other matrices too.
    bool keeps_definite = false;
    /// Whether it is of no use but for matrices with several unknowns a node.
    bool only_for_nodes = false;
    /// The rows of a matrix that is not symmetric from which the choice by facts takes it, where
    /// the matrix looks like one of convection with diffusion (solvers/automatic/row_sample.hpp).
    /// Nothing where that never takes it.
    std::optional<std::int64_t> chosen_for_transport_from = {};
    /// Parameters, "KEY=VALUE:...", with which the choice by facts makes it stronger, if that takes
    /// it, where it was too weak; empty: it doesn't.
    std::string_view stronger = {};
    /// Whether M is the main diagonal of A, which loops for several right-hand sides apply by
    /// themselves (solvers/table/joint_solver.hpp).
    bool is_diagonal = false;
    /// Whether M may be made for an operator of several columns, and is then applied to all of them
    /// at once.
    bool takes_columns = false;

    /// Whether M suits a solver that needs a symmetric positive definite one, where A is that.
    [[nodiscard]] constexpr bool suits_definite() const {
        return needs_spd.get() || keeps_definite || (pointwise && !scales_both_sides);
    }
    /// Makes M with what is known of nodes, if that makes a difference.
    template <class T>
    [[nodiscard]] any_preconditioner<T>
    make_with(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
              const method_parameters& values, const matrix_nodes& nodes) const {
        const auto special = make_for_nodes.template of<T>();
        return special != nullptr && nodes.known() ? special(a, matrix, values, nodes)
                                                   : make.get().template of<T>()(a, matrix, values);
    }
};

} // namespace krylith
