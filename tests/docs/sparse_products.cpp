// Products with sparse vectors, as docs/sparse_vectors.md shows them: which vertices of a web graph
// are reached from one, step by step, against a plain search.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmspv/adaptive_product.hpp>

using namespace krylith;

namespace {

/// Vertices with a path of exactly `steps` edges from the first.
std::vector<std::int32_t> launch(const csr_matrix<float>& links, int steps) {
    const auto group = device_group::host(1); // or device_group::cuda(std::vector<int>{0})

    // Row i of the matrix says from where i is reached.
    const auto matrix = std::make_shared<const spmspv::csr_csc_pair<float>>(
        group.handle(0), csr_view<float>(transpose(links)));

    using S = spmspv::or_and<float>; // plus_times, plus_second, min_plus, min_column
    spmspv::adaptive_product<S, float> multiply(matrix);
    spmspv::sparse_vector<float> x(group.handle(0), matrix->columns(), S::absent());
    spmspv::sparse_vector<float> y(group.handle(0), matrix->rows(), S::absent());

    x.assign(std::vector<std::int32_t>{0}, std::vector<float>{1}); // one entry, x_0 = 1
    for (int step = 0; step < steps; ++step) {
        const spmspv::product_record record =
            multiply(x, y, {.wanted = spmspv::vector_form::pairs}); // y = A x
        std::printf("%s, %lld entries\n", std::string(to_string(record.used)).c_str(),
                    static_cast<long long>(record.entries));
        std::swap(x, y);
    }
    return x.download_pairs().indices; // ascending
}

std::vector<std::int32_t> search_by_hand(const csr_matrix<float>& links, int steps) {
    std::vector<bool> here(static_cast<std::size_t>(links.rows), false);
    here[0] = true;
    for (int step = 0; step < steps; ++step) {
        std::vector<bool> next(here.size(), false);
        for (std::size_t i = 0; i < here.size(); ++i) {
            const auto end = static_cast<std::size_t>(links.row_offsets[i + 1]);
            for (auto k = static_cast<std::size_t>(links.row_offsets[i]); here[i] && k < end; ++k) {
                next[static_cast<std::size_t>(links.column_indices[k])] = true;
            }
        }
        here = next;
    }
    std::vector<std::int32_t> result;
    for (std::size_t i = 0; i < here.size(); ++i) {
        if (here[i]) {
            result.push_back(static_cast<std::int32_t>(i));
        }
    }
    return result;
}

} // namespace

int main() {
    const csr_matrix<float> links = web<float>(3000, 24);
    for (const int steps : {0, 1, 2, 5}) {
        if (launch(links, steps) != search_by_hand(links, steps)) {
            std::printf("wrong after %d steps\n", steps);
            return 1;
        }
    }
}
