// The options of solves and operators.
#pragma once

#include <nanobind/nanobind.h>

namespace krylith::python {

namespace nb = nanobind;

void bind_options(nb::module_& m);

} // namespace krylith::python
