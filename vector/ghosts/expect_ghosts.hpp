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
    std::vector<put_signal> arrived;
    for (int rank = 0; rank < run.ranks(); ++rank) arrived.push_back(v.exchange()->arrived(rank));
    run.expect(arrived);
}

} // namespace krylith
