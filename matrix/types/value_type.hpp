// The types of the numbers that matrices and vectors hold.
#pragma once

#include <type_traits>

namespace krylith {

/// The value types that solvers, operators, readers and writers are compiled for. Classes that
/// every use of another type meets assert it, so that the compiler says in a sentence what the
/// linker would say with pages of names.
template <class T>
inline constexpr bool is_value_type = std::is_same_v<T, double> || std::is_same_v<T, float>;

} // namespace krylith
