// The arguments of kernels that pass over a basis, and the checks before them: the same for all of
// these kernels (basis.hpp, delayed_basis.hpp).
#pragma once

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/vector/basis.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

/// Throws usage_error unless w is of the basis' layout and the pass takes `least` to `most` of its
/// vectors.
template <class T>
void check_pass(const basis<T>& v, int count, int least, int most, const vector<T>& w) {
    if (v.layout() != w.layout())
        throw usage_error("a basis and the vector it is multiplied with must come from the same "
                          "operator: their layouts differ");
    if (count < least || count > most)
        throw usage_error("count is " + std::to_string(count) + ", but must be from " +
                          std::to_string(least) + " to " + std::to_string(most) +
                          " with a basis of " + std::to_string(v.count()) + " vectors");
}

/// Returns the fields that basis_arguments and delayed_arguments have in common; the others are 0.
template <class Arguments, class T>
[[nodiscard]] Arguments pass_arguments(execution& run, const basis<T>& v, int count,
                                       const vector<T>& w, int first, int rank) {
    const layout& layout = *v.layout();
    Arguments a{};
    a.common = run.at(rank);
    a.basis = v.table(rank);
    a.w = w.data(rank);
    a.count = count;
    a.first = first;
    a.size = layout.held(rank);
    a.first_owned = layout.first_owned(rank);
    a.last_owned = a.first_owned + layout.rows.owned(rank).size();
    a.reduce = run.partials(rank);
    return a;
}

} // namespace krylith
