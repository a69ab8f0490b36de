// What solvers require of a preconditioner M. A class of the user's with these members is one;
// jacobi.hpp is the model.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/precond/preconditioner/multigrid_level_facts.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// M = I. Solvers skip its application.
struct identity {
    [[nodiscard]] static constexpr const char* name() { return "none"; }
};

/// What every preconditioner but `identity` has:
///
/// m.apply(run, r, z, dots) enqueues z = M^-1 r, where z is not r. `dots` are inner products that
/// have z as a factor, max_fused_dots at most; they cost no pass of their own where M's last pass
/// can compute them. Where z is a domain vector, apply leaves its ghosts sent: a fused update of z
/// does that, and finish_apply() where z was written by other means.
///
/// m.recordable(): whether a recorded loop may contain apply. Otherwise solvers run eagerly.
///
/// m.bytes(): the device memory that M keeps, on the device that has most.
///
/// m.name(): what reports print, with parameters ("chebyshev:degree=8").
///
/// It may have m.recording(), by which solvers know that what they have recorded of it may be used
/// in the next solve (vector/kept/recording_identity.hpp); otherwise they record it in every solve.
/// It may have m.kernels(), the number of kernels that an application enqueues where these are
/// many: solvers then record fewer iterations in a trip. It may have m.levels(), a vector of
/// multigrid_level_facts, for reports.
///
/// It may have m.varies(), whether M differs from one application to the next, as an inner solve
/// does, and m.symmetric(), whether it is not known to be unsymmetric: solvers that can't take such
/// an M refuse it by its name.
template <class M, class T>
concept applied_preconditioner = requires(const M& m, execution& run, const vector<T>& r,
                                          vector<T>& z, std::span<const reduction_into<T>> dots) {
    m.apply(run, r, z, dots);
    { m.recordable() } -> std::convertible_to<bool>;
    { m.bytes() } -> std::convertible_to<std::int64_t>;
    { m.name() } -> std::convertible_to<std::string>;
};

template <class M, class T>
concept preconditioner = std::same_as<M, identity> || applied_preconditioner<M, T>;

/// M may work entry by entry: m.pointwise(r) returns M^-1 r as a term of the solver's own updates,
/// which spares a pass over memory, or nothing where this M can't. The answer is the same for every
/// r.
template <class M, class T>
concept pointwise_preconditioner = applied_preconditioner<M, T> &&
    requires(const M& m, const vector<T>& r) {
    { m.pointwise(r) } -> std::same_as<std::optional<term<T>>>;
};

/// M has a square root, M = N N, so that half of it can stand on each side of A.
template <class M>
concept splittable = requires(const M& m) {
    { m.square_root() } -> std::same_as<M>;
};

/// Whether M = I. A preconditioner that is chosen at run time says so by is_identity(); solvers
/// then spend nothing on it.
template <class M>
[[nodiscard]] bool is_identity(const M& m) {
    if constexpr (std::same_as<M, identity>)
        return true;
    else if constexpr (requires { m.is_identity(); })
        return m.is_identity();
    else
        return false;
}

/// The number of kernels that an application enqueues, 1 where M doesn't tell.
template <class M>
[[nodiscard]] int kernels_of(const M& m) {
    if constexpr (requires { m.kernels(); })
        return m.kernels();
    else
        return 1;
}

/// Whether M says that it differs from one application to the next.
template <class M>
[[nodiscard]] bool varies(const M& m) {
    if constexpr (requires { m.varies(); })
        return m.varies();
    else
        return false;
}

/// Whether M may be symmetric: false where it says that it isn't.
template <class M>
[[nodiscard]] bool may_be_symmetric(const M& m) {
    if constexpr (requires { m.symmetric(); })
        return m.symmetric();
    else
        return true;
}

/// Returns M^-1 r entry by entry where M can give it so.
template <class T, preconditioner<T> M>
[[nodiscard]] std::optional<term<T>> pointwise_inverse(const M& m, const vector<T>& r) {
    if constexpr (std::same_as<M, identity>)
        return term<T>{&r};
    else if constexpr (pointwise_preconditioner<M, T>)
        return m.pointwise(r);
    else
        return std::nullopt;
}

/// Enqueues z = M^-1 r with the dots, in as few passes as M allows. z is not r.
template <class T, preconditioner<T> M, class... Dots>
void precondition(execution& run, const M& m, const vector<T>& r, vector<T>& z,
                  const Dots&... dots) {
    if constexpr (std::same_as<M, identity>) {
        fused(run, z = r, dots...);
    } else {
        const std::initializer_list<reduction_into<T>> list = {dots...};
        m.apply(run, r, z, std::span(list.begin(), list.size()));
    }
}

/// Ends an apply that wrote z by other means than a fused update, such as a product: sends z's
/// ghosts, if it has any, and computes the dots in a pass of their own.
template <class T>
void finish_apply(execution& run, vector<T>& z, std::span<const reduction_into<T>> dots) {
    put_ghosts(run, z);
    if (dots.empty()) return;
    fused_update<T> update;
    update.add(dots);
    enqueue(run, update);
}

} // namespace krylith
