// The algorithms that `krylith graph` runs: their table.
//
// Another algorithm is its row, in a file of its own beside bfs_row.cpp, and two lines here.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <krylith/device/tables/required.hpp>

namespace krylith {
template <class T>
class graph;
}

namespace krylith::tool {

struct graph_figures;
struct graph_request;

/// The functions that run an algorithm with weights in fp64 and fp32. They fill in the outcome and
/// what is the algorithm's own, and write the files.
struct graph_runners {
    void (*fp64)(const graph_request&, const graph<double>&, graph_figures&);
    void (*fp32)(const graph_request&, const graph<float>&, graph_figures&);

    template <class T>
    [[nodiscard]] constexpr auto of() const noexcept {
        if constexpr (std::is_same_v<T, double>)
            return fp64;
        else
            return fp32;
    }
};

/// Where an algorithm starts.
enum class graph_start {
    vertex, ///< at one vertex, and needs one
    jumps,  ///< at the vertices that jumps lead to: several, or none for all
    none    ///< nowhere: it doesn't walk, and has no sources, products or steps
};

struct graph_method {
    required_text name;
    required_text help; ///< a clause, such as "levels from a vertex"
    required<graph_start> start;
    /// Options of the command that not every algorithm takes.
    name_list options;
    required<graph_runners> run;
    /// Returns what came out, in words. `complete`: steps did not run out.
    required<std::string (*)(const graph_figures&, bool complete)> outcome;
    /// Adds what is its own to the report.
    required<void (*)(const graph_request&, const graph_figures&, nlohmann::ordered_json&)> report;
};

namespace graph_rows {
extern const graph_method bfs;
extern const graph_method pagerank;
extern const graph_method sssp;
extern const graph_method components;
extern const graph_method triangles;
} // namespace graph_rows

inline constexpr std::array graph_algorithms = {&graph_rows::bfs, &graph_rows::pagerank,
                                                &graph_rows::sssp, &graph_rows::components,
                                                &graph_rows::triangles};

/// Whether the option is among those that not every algorithm takes, and this one does.
[[nodiscard]] bool takes(const graph_method& method, std::string_view option);

/// The names, in the order of the table.
[[nodiscard]] std::vector<std::string_view> graph_names();

/// Throws usage_error naming the nearest valid name.
[[nodiscard]] const graph_method& graph_named(std::string_view name);

} // namespace krylith::tool
