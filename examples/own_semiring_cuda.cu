// A semiring of one's own on a GPU: (max, x), whose kernels are compiled here. Each of the eight
// kernels, and the choice among them, against a plain loop.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmspv/semirings/own_semiring.cuh>

using namespace krylith;

struct max_times { // the most likely path: lengths are probabilities
    using value_type = float;
    static constexpr const char* name = "max-times";
    static constexpr bool exact = true;          // max is the same in any order
    static constexpr bool reads_matrix = true;   // term() uses a,
    static constexpr bool reads_vector = true;   // x,
    static constexpr bool reads_columns = false; // and the number of the column
    static constexpr bool first_suffices = false;
    KRYLITH_HD static float absent() { return 0; }
    KRYLITH_HD static float add(float a, float b) { return a < b ? b : a; }
    KRYLITH_HD static float term(float a, float x, std::int32_t) { return a * x; }
};

// Only where products stand in .cpp files; here they are compiled with the program.
KRYLITH_SEMIRING_KERNELS(max_times, float)

namespace {

std::vector<float> by_a_loop(const csr_matrix<float>& a, const std::vector<float>& x) {
    std::vector<float> y(static_cast<std::size_t>(a.rows), 0);
    for (std::size_t i = 0; i < y.size(); ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
            y[i] = max_times::add(y[i],
                                  a.values[k] * x[static_cast<std::size_t>(a.column_indices[k])]);
    return y;
}

/// Multiplies by each kernel and by the one that is chosen, and compares.
bool right(const std::shared_ptr<const spmspv::csr_csc_pair<float>>& matrix,
           const csr_matrix<float>& a, int every) {
    const auto& device = matrix->handle();
    std::vector<float> values(static_cast<std::size_t>(a.columns), 0);
    std::vector<std::int32_t> places;
    std::vector<float> entries;
    for (std::size_t j = 0; j < values.size(); j += static_cast<std::size_t>(every)) {
        values[j] = 1.0F / static_cast<float>(1 + j % 7);
        places.push_back(static_cast<std::int32_t>(j));
        entries.push_back(values[j]);
    }
    const std::vector<float> expected = by_a_loop(a, values);
    spmspv::sparse_vector<float> x(device, a.columns, max_times::absent());
    spmspv::sparse_vector<float> y(device, a.rows, max_times::absent());
    spmspv::product_scratch scratch(device);
    bool all = true;
    for (int number = 0; number < spmspv::kernel_count; ++number) {
        const auto kernel = static_cast<spmspv::kernel>(number);
        x.assign(places, entries);
        spmspv::multiply<max_times>(kernel, *matrix, x, y, scratch,
                                    {.wanted = spmspv::vector_form::pairs});
        const bool same = y.download_dense() == expected;
        if (!same) std::printf("wrong by %s\n", std::string(to_string(kernel)).c_str());
        all = all && same;
    }
    spmspv::adaptive_product<max_times, float> multiply(matrix);
    x.assign(places, entries);
    const auto record = multiply(x, y);
    std::printf("%zu entries: %s was chosen\n", places.size(),
                std::string(to_string(record.used)).c_str());
    return all && y.download_dense() == expected;
}

} // namespace

int main() {
    try {
        const auto group = device_group::cuda(std::vector<int>{0});
        csr_matrix<float> a = web<float>(20000, 12);
        for (std::size_t k = 0; k < a.values.size(); ++k)
            a.values[k] = 1.0F / static_cast<float>(1 + k % 11);
        const auto matrix = std::make_shared<const spmspv::csr_csc_pair<float>>(group.handle(0),
                                                                                csr_view<float>(a));
        bool all = true;
        for (const int every : {1, 3, 100, 20000}) all = right(matrix, a, every) && all;
        return all ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return EXIT_FAILURE;
    }
}
