// The one primitive of vector work: linear combinations and dot products in one pass.
//
//     fused(run, r -= alpha * q, rr = dot(r, r));
//     fused(run, x += alpha * p, p = r + beta * p);
//
// Statements take effect from left to right, entry by entry; dot products see the final entries.
// The pass reads and writes each vector once. Known shapes (fused_shapes.hpp) have kernels of their
// own; any other runs in a general kernel at somewhat lower speed.
#pragma once

#include <span>
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
    void add(std::span<const reduction_into<T>> d) { dots.insert(dots.end(), d.begin(), d.end()); }
};

/// Enqueues the update on all devices of the vectors' layout. All vectors are of one layout. Throws
/// usage_error for an update that is too large (max_fused_*).
template <class T>
void enqueue(execution& run, const fused_update<T>& update);

/// Sends the owned entries of a domain vector to the ranks that keep copies of them. Only domain
/// vectors that were written other than by fused() need it. Does nothing for other vectors.
template <class T>
void put_ghosts(execution& run, const vector<T>& domain);

template <class First, class... Parts>
void fused(execution& run, const First& first, const Parts&... parts) {
    fused_update<typename First::value_type> update;
    update.add(first);
    (update.add(parts), ...);
    enqueue(run, update);
}

} // namespace krylith
