// Breadth-first search over the graph of a matrix, on all GPUs or a slice of the CPU: it prints how
// far each vertex is from the first, and by which kernels the levels were found. A queue checks it.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <queue>
#include <string>
#include <vector>

#include <krylith/graph/bfs.hpp>
#include <krylith/matrix/load.hpp>

using namespace krylith;

namespace {

std::vector<std::int32_t> levels_by_queue(const csr_matrix<float>& a, std::int32_t source) {
    std::vector<std::int32_t> levels(static_cast<std::size_t>(a.rows), -1);
    levels[static_cast<std::size_t>(source)] = 0;
    std::queue<std::int32_t> waiting;
    for (waiting.push(source); !waiting.empty(); waiting.pop()) {
        const auto i = static_cast<std::size_t>(waiting.front());
        for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const std::int32_t j = a.column_indices[static_cast<std::size_t>(k)];
            std::int32_t& level = levels[static_cast<std::size_t>(j)];
            if (level >= 0) continue;
            level = levels[i] + 1;
            waiting.push(j);
        }
    }
    return levels;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto matrix = load_matrix<float>(argc > 1 ? argv[1] : "gallery:kron:12");
        std::vector<int> gpus(static_cast<std::size_t>(cuda_device_count()));
        std::iota(gpus.begin(), gpus.end(), 0);
        const auto group = gpus.empty() ? device_group::host(1) : device_group::cuda(gpus);

        const graph<float> g(group, matrix);
        breadth_first_search<float> search(g);
        const bfs_result found = search(0);

        for (const graph_step& step : found.steps)
            std::printf("%9lld vertices, %11lld edges, %s\n", static_cast<long long>(step.entries),
                        static_cast<long long>(step.frontier_nonzeros),
                        step.launch != 0 ? "persistent"
                                         : std::string(to_string(step.kernels[0])).c_str());
        std::printf("%lld of %lld vertices reached on %lld levels, %.3f GTEPS\n",
                    static_cast<long long>(found.reached), static_cast<long long>(g.vertices()),
                    static_cast<long long>(found.depth), found.gteps());

        const bool good = found.levels == levels_by_queue(matrix, 0);
        std::puts(good ? "The levels are right." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_breadth_first_search: %s\n", e.what());
        return 1;
    }
}
