// The one primitive of vector work: linear combinations and dot products in one pass.
//
//     fused(run, r -= alpha * q, rr = dot(r, r));
//     fused(run, x += alpha * p, p = r + beta * p);
//
// Statements take effect from left to right, entry by entry; dot products see the final entries.
// The pass reads and writes each vector once.
//
// An update of vectors of double may contain vectors of float of the same layout:
//
//     fused(run, r32 = g * pointwise(s32, r));              // computed in double, rounded to float
//     fused(run, z = promote<double>(z32), rz = dot(r, z)); // z32 takes part in double
//
// Known shapes (fused_shapes.hpp) have kernels of their
// own; any other runs in a general kernel at somewhat lower speed.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/vector/kernels/fused_shape.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

template <class T>
struct fused_update {
    std::vector<assignment<T>> statements;
    std::vector<reduction_into<T>> dots;

    void add(const assignment<T>& s) { statements.push_back(s); }
    void add(const reduction_into<T>& d) { dots.push_back(d); }
    /// Dot products are summed in double in any case.
    void add(const reduction_into<float>& d) requires std::same_as<T, double> {
        const vector<float>* const a = d.a;
        const vector<float>* const b = d.b;
        dots.push_back({d.number, a, b});
    }
    void add(std::span<const reduction_into<T>> d) { dots.insert(dots.end(), d.begin(), d.end()); }
};

/// Enqueues the update on all devices of the vectors' layout. All vectors of a type are of one
/// layout, those of the other type of this one or an equal one (same_layout). Throws usage_error
/// for other vectors, and for an update that is too large (max_fused_*).
template <class T>
void enqueue(execution& run, const fused_update<T>& update);

/// Sends the owned entries of a domain vector to the ranks that keep copies of them. Only domain
/// vectors that were written other than by fused() need it. Does nothing for other vectors.
template <class T>
void put_ghosts(execution& run, const vector<T>& domain);

/// An update computes in double if one of its parts does. An assignment that computes in float then
/// needs promote<double>() on its right-hand side.
template <class... Parts>
requires(sizeof...(Parts) > 0) void fused(execution& run, const Parts&... parts) {
    constexpr bool in_double = (... || std::same_as<typename Parts::value_type, double>);
    fused_update<std::conditional_t<in_double, double, float>> update;
    (update.add(parts), ...);
    enqueue(run, update);
}

} // namespace krylith
