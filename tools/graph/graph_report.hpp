// What krylith graph tells: for people, and as JSON.
#pragma once

#include <string>

#include <krylith/tools/graph/graph_run.hpp>

namespace krylith::tool {

/// Vertices are counted from 1.
[[nodiscard]] std::string json_report(const graph_request& request, const graph_figures& f);
[[nodiscard]] std::string summary(const graph_request& request, const graph_figures& f);

} // namespace krylith::tool
