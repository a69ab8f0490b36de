// The text of models/*.txt, of which CMake makes a source (cmake/KrylithLibrary.cmake).
#pragma once

#include <string_view>

namespace krylith::spmspv {

extern const std::string_view host_model_text;
extern const std::string_view sm_90_model_text;

} // namespace krylith::spmspv
