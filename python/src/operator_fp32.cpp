#include "bind_operator.hpp"

namespace krylith::python {

template class kept_operator<float>;
template void bind_operator<float>(nb::module_& m, const char* suffix);

} // namespace krylith::python
