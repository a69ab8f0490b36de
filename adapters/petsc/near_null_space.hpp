// The near-null space of a Mat, as krylith takes it.
#pragma once

#include <vector>

#include <petscmat.h>

namespace krylith::petsc {

/// The vectors of the space, all entries of one after the other; a constant one is the first.
/// Collective; each process gets all entries, 8 bytes each.
[[nodiscard]] std::vector<double> vectors_of(MatNullSpace space, Mat mat);

} // namespace krylith::petsc
