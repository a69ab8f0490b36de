// PageRank of the pages of a web crawl, and of what is near one of them, on all GPUs or a slice of
// the CPU. One step of the power method, with jumps from pages without links, checks both.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include <krylith/graph/pagerank.hpp>
#include <krylith/matrix/load.hpp>

using namespace krylith;

namespace {

constexpr double damping = 0.85;

/// The change of the ranks by a step of the power method, summed up: twice their error at most.
double change(const csr_matrix<double>& a, const std::vector<double>& ranks,
              const std::vector<double>& jumps) {
    std::vector<double> next(ranks.size(), 0.0);
    double jumping = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const auto links = static_cast<double>(a.row_offsets[i + 1] - a.row_offsets[i]);
        jumping += links == 0 ? ranks[i] : (1 - damping) * ranks[i];
        for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            next[static_cast<std::size_t>(a.column_indices[static_cast<std::size_t>(k)])] +=
                damping * ranks[i] / links;
    }
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        sum += std::fabs(next[i] + jumping * jumps[i] - ranks[i]);
    return sum;
}

bool report(const char* what, const csr_matrix<double>& a, const pagerank_result<double>& found,
            const std::vector<double>& jumps) {
    const auto highest = std::ranges::max_element(found.ranks) - found.ranks.begin();
    const double changed = change(a, found.ranks, jumps);
    std::printf("%s: page %lld is the highest, %.4f; %lld steps along %.1f%% of all links, errors "
                "at most %.1e, a step more changes %.1e\n",
                what, static_cast<long long>(highest), *std::ranges::max_element(found.ranks),
                static_cast<long long>(found.iterations()),
                100.0 * static_cast<double>(found.frontier_nonzeros()) /
                    static_cast<double>(found.iterations() * a.nnz()),
                found.error_bound, changed);
    return found.reason == graph_reason::converged && changed <= 2 * found.error_bound;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto matrix = load_matrix<double>(argc > 1 ? argv[1] : "gallery:web:20000");
        std::vector<int> gpus(static_cast<std::size_t>(cuda_device_count()));
        std::iota(gpus.begin(), gpus.end(), 0);
        const auto group = gpus.empty() ? device_group::host(1) : device_group::cuda(gpus);

        const graph<double> g(group, matrix);
        const auto all = pagerank(g, {.damping = damping});
        const auto near = pagerank(g, {.damping = damping, .sources = {0}});

        const auto n = static_cast<std::size_t>(g.vertices());
        std::vector<double> jumps(n, 1.0 / static_cast<double>(n));
        bool good = report("all pages", matrix, all, jumps);
        std::ranges::fill(jumps, 0.0);
        jumps[0] = 1;
        good = report("near page 0", matrix, near, jumps) && good;
        std::puts(good ? "Both agree with the power method." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_pagerank: %s\n", e.what());
        return 1;
    }
}
