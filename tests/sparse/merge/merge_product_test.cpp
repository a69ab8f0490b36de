// Products by merge path: matrices of several chunks a device, with rows that lie in many of them,
// as operators and on raw arrays. Host devices, which have no such kernel, use their default
// format.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/sparse/merge/merge_product.hpp>
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

/// Makes rows with columns anywhere; long rows have several entries in one place.
template <class T>
csr_matrix<T> with_rows(std::int64_t columns, const std::vector<std::int64_t>& lengths) {
    csr_matrix<T> a;
    a.rows = static_cast<std::int64_t>(lengths.size());
    a.columns = columns;
    a.row_offsets = {0};
    for (const auto length : lengths) a.row_offsets.push_back(a.row_offsets.back() + length);
    a.values = random_values<T>(a.row_offsets.back(), 81);
    for (std::int64_t k = 0; k < a.row_offsets.back(); ++k)
        a.column_indices.push_back(static_cast<std::int32_t>(k * 7919 % columns));
    return a;
}

/// Lengths of rows that end in every way at the ends of tiles and chunks; `giant` is that of one
/// over many of them.
std::vector<std::int64_t> lengths_of(std::int64_t rows, std::int64_t giant) {
    testing::random_numbers random(82);
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows));
    for (auto& length : lengths) length = random.below(20) * random.below(2);
    for (const auto row : {rows / 3, rows / 3 + 1, rows / 2, rows - 1})
        lengths[static_cast<std::size_t>(row)] = giant;
    return lengths;
}

/// A square matrix with sorted, different columns, as operators take it.
csr_matrix<double> square(std::int64_t n) {
    auto a = with_rows<double>(n, lengths_of(n, n));
    for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row)
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            a.column_indices[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(
                (k - a.row_offsets[row]) * (n / (a.row_offsets[row + 1] - a.row_offsets[row])));
    return a;
}

} // namespace

KRYLITH_GROUP_TEST("format merge: rows in many chunks, with dots, the same bits") {
    const bool cuda = group.kind() == backend::cuda;
    const std::int64_t n = cuda ? 150'000 : 6'000;
    const auto matrix = square(n);
    const auto x0 = random_values<double>(n, 83);
    const auto y0 = random_values<double>(n, 84);
    const auto expected = testing::product(matrix, 2.0, x0, 0.5, y0);
    for (const auto kind : {operators::nz, operators::halo, operators::lra_rc}) {
        CAPTURE(name_of(kind));
        const auto a = make_operator(
            group, matrix, {.kind = kind, .format = cuda ? formats::merge : formats::automatic});
        execution run(group, {});
        auto source = testing::make_range_vector(a->layout(), x0);
        auto y = a->make_range_vector();
        auto x = a->make_domain_vector();
        fused(run, x = source);
        scalar xy(run), yy(run);
        const reduction_into<double> dots[] = {xy = dot(source, y), yy = dot(y, y)};
        std::vector<double> first;
        for (int round = 0; round < 10; ++round) {
            y.upload(y0);
            a->apply(run, 2.0, x, 0.5, y, std::span(dots, static_cast<std::size_t>(2)));
            run.flush();
            auto result = values_of(y);
            CHECK(testing::copies_agree(y));
            if (round == 0) {
                bool good = true;
                for (std::size_t i = 0; i < result.size(); ++i)
                    good = good && expected[i].allows<double>(result[i]);
                CHECK(good);
                CHECK(testing::inner_product(x0, result).allows<double>(run.get(xy.number())));
                CHECK(testing::inner_product(result, result).allows<double>(run.get(yy.number())));
            }
            result.push_back(run.get(xy.number()));
            result.push_back(run.get(yy.number()));
            if (round == 0) first = result;
            CHECK(same_bits(result, first));
        }
    }
}

#if KRYLITH_HAVE_CUDA

namespace {

template <class T, class Offset>
void check_raw(const std::shared_ptr<device>& gpu, const csr_matrix<T>& a, T alpha, T beta) {
    const auto x0 = random_values<T>(a.columns, 85);
    const auto y0 = beta == T(0) ? std::vector<T>(static_cast<std::size_t>(a.rows), T(NAN))
                                 : random_values<T>(a.rows, 86);
    const std::vector<Offset> starts(a.row_offsets.begin(), a.row_offsets.end());
    const buffer<Offset> offsets(gpu, std::span<const Offset>(starts), "test");
    const buffer<std::int32_t> columns(gpu, std::span<const std::int32_t>(a.column_indices),
                                       "test");
    const buffer<T> values(gpu, std::span<const T>(a.values), "test");
    const buffer<T> x(gpu, std::span<const T>(x0), "test");
    buffer<T> y(gpu, static_cast<std::size_t>(a.rows), "test");
    const auto nonzeros = a.row_offsets.back();
    const buffer<std::byte> scratch(gpu, merge_scratch_bytes<T>(a.rows, nonzeros), "test");
    cuda::find_merge_tiles<T>(*gpu, offsets.data(), a.rows, nonzeros, scratch.data());
    const auto expected = testing::product(a, alpha, x0, beta, y0);
    std::vector<T> first;
    for (int round = 0; round < 3; ++round) {
        y.upload(std::span<const T>(y0));
        cuda::multiply<T, Offset>(*gpu,
                                  {offsets.data(), columns.data(), values.data(), a.rows, nonzeros,
                                   x.data(), y.data(), alpha, beta},
                                  scratch.data());
        const auto result = y.download();
        if (round == 0) {
            first = result;
            bool good = true;
            for (std::size_t i = 0; i < result.size(); ++i)
                good = good && expected[i].template allows<T>(result[i]);
            CHECK(good);
        }
        CHECK(same_bits(result, first));
    }
}

} // namespace

TEST_CASE("merge product on raw arrays [cuda]") {
    const auto gpu = testing::cuda_groups().front().handle(0);
    const std::vector<std::vector<std::int64_t>> cases = {
        {},
        {0},
        {3},
        {3'000'000},
        {0, 0, 2'000'000, 0, 1},
        std::vector<std::int64_t>(4'000'000, 0),
        std::vector<std::int64_t>(merge_tile_items, merge_tile_items - 1),
        std::vector<std::int64_t>(9'000, 500),
        lengths_of(400'000, 1'000'000),
        lengths_of(1'500'000, 2'000'000)}; // chunks of several tiles on 132 multiprocessors
    for (const auto& lengths : cases) {
        CAPTURE(lengths.size());
        const auto matrix = with_rows<double>(100'000, lengths);
        check_raw<double, std::int32_t>(gpu, matrix, 1, 0);
        check_raw<double, std::int64_t>(gpu, matrix, -2, 0.5);
        const auto narrow = with_rows<float>(100'000, lengths);
        check_raw<float, std::int32_t>(gpu, narrow, 3, 0);
        check_raw<float, std::int64_t>(gpu, narrow, 1, 1);
    }
}

#endif

} // namespace krylith
