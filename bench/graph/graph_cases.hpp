// The graphs of `krylith bench graph`: families of the gallery of high and of low diameter, in
// comparable sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/spmv/spmv_families.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// Members of families ("all", or names with commas) in these sizes: tiny (0.3 M edges), small (3
/// M), medium (30 M), large (120 M). Throws usage_error naming what is unknown and what is allowed.
[[nodiscard]] std::vector<spmv_case> graph_members(const std::string& families,
                                                   const std::vector<std::string>& sizes);

/// Loads the matrix, square, with the magnitudes of its values: lengths of edges must not be
/// negative. Throws what load_matrix() throws, and input_error where it is not square.
template <class T>
[[nodiscard]] csr_matrix<T> load_graph(const std::string& name);

/// Draws so many different vertices that edges leave, the same on every machine; fewer where there
/// are fewer.
template <class T>
[[nodiscard]] std::vector<std::int64_t> pick_sources(const csr_matrix<T>& a, int count);

} // namespace krylith::bench
