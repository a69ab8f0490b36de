// The two passes over a basis that an Arnoldi step with delayed re-orthogonalisation makes: all its
// dot products, then both of its updates. solvers/gmres.hpp has the algebra, and
// solvers/gmres/delayed_hessenberg.hpp what comes in between.
#pragma once

#include <krylith/vector/basis.hpp>

namespace krylith {

/// Computes, with u = v_(count - 1) and for k < count, array[first + k] = dot(v_k, u), array[first
/// + count + k] = dot(v_k, w), and array[first + 2 count] = dot(w, w): one pass over the basis, one
/// batch of 2 count + 1 values.
template <class T>
void delayed_dots(execution& run, const basis<T>& v, int count, const vector<T>& w, int first);

/// Ends v_j, j = count - 1, and makes v_count from w, in one pass over the basis: with
/// s = array[first ...], a = s_j, t = array[first + count ...], b = t_j and
/// c = array[first + 2 count]
///
///     v_j = a (v_j - sum of s_k v_k),   v_count = c (w - sum of t_k v_k - b v_j),   k < j.
///
/// Of the two only v_count is sent to the peers that keep ghosts of it. Throws usage_error if there
/// is no v_count, and if the coefficients have yet to arrive: a compute() or flush() comes first.
template <class T>
void delayed_update(execution& run, basis<T>& v, int count, const vector<T>& w, int first);

} // namespace krylith
