// What a graph knows of its edges.
#include <krylith/solvers/graph.hpp>

#include "../support/graphs.hpp"
#include "../support/groups.hpp"

namespace krylith {

KRYLITH_GROUP_TEST("graph: edges that leave each vertex, wherever its columns are") {
    for (const auto& c : testing::graph_cases()) {
        CAPTURE(c.name);
        const graph<double> g(group, csr_view<double>(c.matrix));
        std::vector<std::int64_t> expected;
        for (std::size_t row = 0; row + 1 < c.matrix.row_offsets.size(); ++row)
            expected.push_back(c.matrix.row_offsets[row + 1] - c.matrix.row_offsets[row]);
        CHECK(g.out_degrees() == expected);
    }
    const csr_matrix<double> nothing;
    CHECK(graph<double>(group, csr_view<double>(nothing)).out_degrees().empty());
}

} // namespace krylith
