// Options of amg as texts and tables of parameters have them.
#pragma once

#include <string_view>

#include <krylith/precond/amg.hpp>
#include <krylith/precond/table/parameters.hpp>

namespace krylith {

[[nodiscard]] amg_options amg_options_of(const method_parameters& parameters);

/// The same of "amg:degree=3:cycle=w". Throws usage_error for other texts.
[[nodiscard]] amg_options amg_options_of(std::string_view text);

} // namespace krylith
