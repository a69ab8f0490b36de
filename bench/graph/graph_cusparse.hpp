// Breadth-first search and PageRank by cuSPARSE: a product with a dense vector in every step, and
// one kernel of its own for what lies between.
#pragma once

#include <memory>

#include <krylith/bench/graph/graph_contestant.hpp>

namespace krylith::bench {

/// Makes a runner on one CUDA device; null for sssp, which plus and times can't do. Defined where
/// KRYLITH_HAVE_CUDA is 1.
[[nodiscard]] std::unique_ptr<graph_runner> make_cusparse_runner(const graph<float>& g,
                                                                 const graph_task& task);

} // namespace krylith::bench
