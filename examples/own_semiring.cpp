// A semiring of one's own: the most reliable way from one place to all others. An edge works with
// a probability, a way with the product of those of its edges, and the best way counts: (max, x).
// As with shortest paths, only what has become better goes into the next product. A queue of
// places checks the result.
//
//     example_own_semiring [VERTICES]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmspv/semirings/own_semiring.hpp>

using namespace krylith;

namespace {

struct max_times {
    using value_type = float;
    static constexpr const char* name = "max-times";
    static constexpr bool exact = true;          // max is the same in any order
    static constexpr bool reads_matrix = true;   // term() uses a,
    static constexpr bool reads_vector = true;   // x,
    static constexpr bool reads_columns = false; // and the number of the column
    static constexpr bool first_suffices = false;
    static constexpr bool host_only = true; // own_semiring_cuda.cu has one for GPUs
    static float absent() { return 0; }
    static float add(float a, float b) { return a < b ? b : a; }
    static float term(float a, float x, std::int32_t) { return a * x; }
};

/// Roads between places, each of which works with a probability of 1 / 2 to 1.
csr_matrix<float> roads(std::int64_t n) {
    csr_matrix<float> edges = road<float>(n);
    std::uint32_t drawn = 1;
    for (float& value : edges.values) {
        drawn = drawn * 1664525 + 1013904223;
        value = 0.5F + static_cast<float>(drawn >> 9) / 16777216.0F;
    }
    return edges;
}

std::vector<float> by_products(const csr_matrix<float>& edges) {
    const auto group = device_group::host(1);
    const auto matrix = std::make_shared<const spmspv::csr_csc_pair<float>>(
        group.handle(0), csr_view<float>(transpose(edges)));
    spmspv::adaptive_product<max_times, float> multiply(matrix);
    spmspv::sparse_vector<float> x(group.handle(0), edges.rows, max_times::absent());
    spmspv::sparse_vector<float> y(group.handle(0), edges.rows, max_times::absent());

    std::vector<float> best(static_cast<std::size_t>(edges.rows), 0);
    std::vector<std::int32_t> better = {0}; // places that have become better
    std::vector<float> values = {1};
    best[0] = 1;
    int steps = 0;
    for (; !better.empty(); ++steps) {
        x.assign(better, values);
        multiply(x, y, {.wanted = spmspv::vector_form::pairs});
        const auto found = y.download_pairs();
        better.clear();
        values.clear();
        for (std::size_t k = 0; k < found.indices.size(); ++k) {
            float& known = best[static_cast<std::size_t>(found.indices[k])];
            if (found.values[k] <= known) continue;
            known = found.values[k];
            better.push_back(found.indices[k]);
            values.push_back(known);
        }
    }
    std::printf("%d products, kernels by the model '%s'\n", steps, multiply.model().name.c_str());
    return best;
}

/// The same by a queue of places whose edges are still to be tried.
std::vector<float> by_a_queue(const csr_matrix<float>& edges) {
    std::vector<float> best(static_cast<std::size_t>(edges.rows), 0);
    std::deque<std::size_t> waiting = {0};
    best[0] = 1;
    for (; !waiting.empty(); waiting.pop_front()) {
        const std::size_t from = waiting.front();
        for (auto k = static_cast<std::size_t>(edges.row_offsets[from]);
             k < static_cast<std::size_t>(edges.row_offsets[from + 1]); ++k) {
            const auto to = static_cast<std::size_t>(edges.column_indices[k]);
            const float way = edges.values[k] * best[from];
            if (way <= best[to]) continue;
            best[to] = way;
            waiting.push_back(to);
        }
    }
    return best;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const csr_matrix<float> edges = roads(argc > 1 ? std::atoll(argv[1]) : 40);
        const std::vector<float> found = by_products(edges);
        const auto reached = std::ranges::count_if(found, [](float p) { return p > 0; });
        std::printf("%lld of %zu places can be reached\n", static_cast<long long>(reached),
                    found.size());
        return reached > 1 && found == by_a_queue(edges) ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return EXIT_FAILURE;
    }
}
