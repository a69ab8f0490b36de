// Products by CSR5: matrices of several chunks a device, with empty rows and rows that lie in many
// tiles, as operators. Host devices, which have no such kernel, use their default format.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::name_of;
using testing::random_values;
using testing::same_bits;
using testing::values_of;

namespace {

/// A square matrix with sorted, different columns in rows of the lengths.
template <class T>
csr_matrix<T> matrix_with_lengths(const std::vector<std::int64_t>& lengths) {
    const auto n = static_cast<std::int64_t>(lengths.size());
    csr_matrix<T> a;
    a.rows = a.columns = n;
    a.row_offsets = {0};
    for (std::int64_t row = 0; row < n; ++row) {
        const std::int64_t length = lengths[static_cast<std::size_t>(row)];
        for (std::int64_t k = 0; k < length; ++k)
            a.column_indices.push_back(static_cast<std::int32_t>(k * (n / length)));
        a.row_offsets.push_back(static_cast<std::int64_t>(a.column_indices.size()));
    }
    a.values = random_values<T>(a.row_offsets.back(), 91);
    return a;
}

/// Rows of `least` to `most` entries; every other one is empty where `holes`, and one in the middle
/// goes over many tiles where `giant`.
std::vector<std::int64_t> some_lengths(std::int64_t rows, int least, int most, bool holes,
                                       bool giant) {
    testing::random_numbers random(92);
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows));
    for (auto& length : lengths)
        length = (least + random.below(most - least + 1)) * (holes ? random.below(2) : 1);
    if (holes) // a run, and both ends
        std::fill_n(lengths.begin() + rows / 5, rows / 20, 0);
    if (giant) lengths[lengths.size() / 2] = rows;
    return lengths;
}

struct length_case {
    const char* name;
    std::vector<std::int64_t> lengths;
};

std::vector<length_case> csr5_product_cases(bool cuda) {
    const std::int64_t many = cuda ? 8 : 1;
    std::vector<length_case> result = {
        {"short rows, holes", some_lengths(many * 5'000, 1, 6, true, true)},
        {"rows of 4 to 12", some_lengths(many * 4'000, 4, 12, false, false)},
        {"rows of 20 to 90, holes", some_lengths(many * 1'500, 20, 90, true, true)},
        {"longer rows", some_lengths(many * 700, 60, 200, false, true)},
        {"as long as tiles", std::vector<std::int64_t>(static_cast<std::size_t>(many * 600), 512)},
        {"without entries", std::vector<std::int64_t>(3'000, 0)},
    };
    result.push_back({"two entries", std::vector<std::int64_t>(3'000, 0)});
    result.back().lengths[7] = result.back().lengths[2'999] = 1;
    return result;
}

template <class T>
void check_csr5_products(const device_group& group) {
    const bool cuda = group.kind() == backend::cuda;
    for (const length_case& c : csr5_product_cases(cuda)) {
        CAPTURE(c.name);
        auto matrix = matrix_with_lengths<T>(c.lengths);
        const auto x0 = random_values<T>(matrix.rows, 93);
        const auto y0 = random_values<T>(matrix.rows, 94);
        for (const auto kind :
             {operators::nz, operators::halo, operators::lra_rc, operators::pcsr}) {
            CAPTURE(name_of(kind));
            const auto a = make_operator(
                group, matrix, {.kind = kind, .format = cuda ? formats::csr5 : formats::automatic});
            execution run(group, {});
            auto source = testing::make_range_vector(a->layout(), x0);
            auto y = a->make_range_vector();
            auto x = a->make_domain_vector();
            fused(run, x = source);
            scalar xy(run), yy(run);
            const reduction_into<T> dots[] = {xy = dot(source, y), yy = dot(y, y)};
            for (const bool updated : {false, true}) {
                auto current = matrix;
                if (updated) {
                    current.values = random_values<T>(matrix.row_offsets.back(), 95);
                    a->update(std::span<const T>(current.values));
                }
                const auto expected = testing::product(current, T(2), x0, T(0.5), y0);
                std::vector<T> first;
                for (int round = 0; round < 3; ++round) {
                    y.upload(y0);
                    a->apply(run, T(2), x, T(0.5), y, std::span(dots, static_cast<std::size_t>(2)));
                    run.flush();
                    auto result = values_of(y);
                    if (round == 0) {
                        bool good = true;
                        for (std::size_t i = 0; i < result.size(); ++i)
                            good = good && expected[i].template allows<T>(result[i]);
                        CHECK(good);
                        CHECK(testing::inner_product(x0, result)
                                  .template allows<T>(run.get(xy.number())));
                    }
                    result.push_back(static_cast<T>(run.get(xy.number())));
                    result.push_back(static_cast<T>(run.get(yy.number())));
                    if (round == 0) first = result;
                    CHECK(same_bits(result, first));
                }
            }
        }
    }
}

} // namespace

KRYLITH_GROUP_TEST("format csr5: empty and long rows, with dots and new values, the same bits") {
    check_csr5_products<double>(group);
}

KRYLITH_GROUP_TEST("format csr5: the same in fp32") {
    check_csr5_products<float>(group);
}

} // namespace krylith
