// What the algorithms of `krylith graph` share.
#pragma once

#include <string>
#include <vector>

#include <krylith/spmspv/adaptive_product.hpp>
#include <krylith/tools/graph/graph_run.hpp>

namespace krylith::tool {

/// The kernels that were asked for. Throws usage_error for a wrong name.
[[nodiscard]] spmspv::adaptive_options kernels_of(const graph_request& request);

/// Runs it, on GPUs after a run that loads kernels and finds memory.
template <class Algorithm>
auto run_warm(const graph_figures& f, const Algorithm& algorithm) {
    if (f.kind == backend::cuda) (void)algorithm();
    return algorithm();
}

template <class Run>
void note_model(const graph_request& request, graph_figures& f, const Run& run) {
    if (request.kernel == "adaptive" && run.model() != nullptr) f.model = run.model()->name;
}

/// Writes values where a file was asked for.
void write_values(const std::string& file, const std::vector<double>& values,
                  const std::string& what);

/// "5 of 9 vertices reached, the last on level 2, in 3 steps".
[[nodiscard]] std::string vertices_reached(const graph_figures& f, bool complete,
                                           const std::string& extent);

} // namespace krylith::tool
