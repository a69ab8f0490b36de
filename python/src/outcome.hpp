// The outcome of a solve as Python reads it.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include <krylith/solvers/result.hpp>

namespace krylith::python {

namespace nb = nanobind;

struct outcome {
    solve_result result;
    std::string solver;         ///< the one that gave x
    std::string preconditioner; ///< its M, by name()
    int copies = 0;             ///< of b and x on the way to the devices and back
};

void bind_outcome(nb::module_& m);

} // namespace krylith::python
