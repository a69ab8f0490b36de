// Waiting for the ghosts of a vector where no product does.
#pragma once

#include <vector>

#include <krylith/vector/execution.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// Makes the next kernel, whichever it is, wait for the ghosts that were sent last. Nothing where
/// the vector has none.
template <class T>
void expect_ghosts(execution& run, const vector<T>& v) {
    if (v.exchange() == nullptr) return;
    run.expect(by_rank(run.comm(), [&](int rank) { return v.exchange()->arrived(rank); }));
}

} // namespace krylith
