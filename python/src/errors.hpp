// The library's errors as exceptions of Python (krylith/_errors.py).
#pragma once

#include <nanobind/nanobind.h>

namespace krylith::python {

namespace nb = nanobind;

void bind_errors();

} // namespace krylith::python
