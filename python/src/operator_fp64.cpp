#include "bind_operator.hpp"

namespace krylith::python {

template class kept_operator<double>;
template void bind_operator<double>(nb::module_& m, const char* suffix);

} // namespace krylith::python
