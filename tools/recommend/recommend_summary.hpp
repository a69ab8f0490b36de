// A recommendation for people and for programs.
#pragma once

#include <string>

#include <krylith/tools/recommend/recommend_run.hpp>

namespace krylith::tool {

[[nodiscard]] std::string summary(const recommend_request& request, const recommendation& r);
[[nodiscard]] std::string json_report(const recommend_request& request, const recommendation& r);

} // namespace krylith::tool
