// Many functions instantiated by one statement.
#pragma once

#include <tuple>

namespace krylith {

/// `template struct instances<f<double>, g<double>>;` emits these functions for other sources:
/// their addresses are kept. Only functions without overloads can be named so. The statement must
/// stand in the namespace of `instances`, of which there is one in each that needs it.
template <auto... Functions>
struct instances {
    static constexpr std::tuple addresses{Functions...};
};

namespace detail {
template <auto... Functions>
struct instances {
    static constexpr std::tuple addresses{Functions...};
};
} // namespace detail

namespace host {
template <auto... Functions>
struct instances {
    static constexpr std::tuple addresses{Functions...};
};
} // namespace host

namespace cuda {
template <auto... Functions>
struct instances {
    static constexpr std::tuple addresses{Functions...};
};
} // namespace cuda

} // namespace krylith
