// What people and other programs call options of the command.
#pragma once

#include <array>

#include <krylith/device/messages/nearest_name.hpp>

namespace krylith::tool {

/// Where an option has several meanings, the first that the command at hand has is suggested.
inline constexpr std::array<name_alias, 34> option_aliases = {{
    {"tol", "--rtol"},
    {"tolerance", "--rtol"},
    {"eps", "--rtol"},
    {"reltol", "--rtol"},
    {"abstol", "--atol"},
    {"maxit", "--max-iterations"},
    {"maxits", "--max-iterations"},
    {"maxiter", "--max-iterations"},
    {"maxiters", "--max-iterations"},
    {"iterations", "--max-iterations"},
    {"niter", "--max-iterations"},
    {"method", "--solver"},
    {"ksptype", "--solver"},
    {"preconditioner", "--precond"},
    {"prec", "--precond"},
    {"pc", "--precond"},
    {"pctype", "--precond"},
    {"guess", "--x0"},
    {"initialguess", "--x0"},
    {"output", "--solution"},
    {"output", "--report"},
    {"out", "--solution"},
    {"out", "--output"},
    {"out", "--report"},
    {"json", "--report"},
    {"gpus", "--devices"},
    {"ngpus", "--devices"},
    {"numdevices", "--devices"},
    {"ndevices", "--devices"},
    {"nthreads", "--threads"},
    {"numthreads", "--threads"},
    {"time", "--seconds"},
    {"type", "--precision"},
    {"dtype", "--precision"},
}};

} // namespace krylith::tool
