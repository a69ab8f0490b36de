// The library's models of memory and traffic (solvers/model/), by the names that the command uses.
#pragma once

#include <krylith/solvers/model/footprint.hpp>
#include <krylith/solvers/model/method_model.hpp>

namespace krylith::tool {

using model::footprint;
using model::footprints;
using model::method;
using model::preconditioner_bytes;
using model::preconditioner_traffic;
using model::products;
using model::traffic;
using model::vector_passes;
using model::vectors;

} // namespace krylith::tool
