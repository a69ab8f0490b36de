// Features of matrices and vectors: by hand, at the limits, and each in its place.
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/spmspv/csr_csc_pair/matrix_features.hpp>

namespace krylith::spmspv {

TEST_CASE("matrix features: of rows of 4, 0, 2 and 2 entries") {
    const std::vector<std::int64_t> offsets = {0, 4, 4, 6, 8};
    const matrix_features f = measure_features(offsets, 8);
    CHECK(f.rows == 4);
    CHECK(f.columns == 8);
    CHECK(f.nonzeros == 8);
    CHECK(f.longest_row == 4);
    CHECK(f.shortest_row == 0);
    CHECK(f.mean_row == 2);
    CHECK(f.relative_range == 0.5);
    CHECK(f.deviation == doctest::Approx(std::sqrt(2.0)));
    // sum over pairs |l_i - l_j| = 2 (4 + 2 + 2 + 2 + 2 + 0) = 24, over 2 n^2 mean = 64
    CHECK(f.gini == doctest::Approx(0.375));
}

TEST_CASE("matrix features: offsets of a block of rows need not begin at 0") {
    const matrix_features f = measure_features(std::vector<std::int64_t>{100, 103, 104}, 10);
    CHECK(f.nonzeros == 4);
    CHECK(f.longest_row == 3);
    CHECK(f.mean_row == 2);
}

TEST_CASE("matrix features: no rows, no columns, no entries") {
    for (const std::vector<std::int64_t>& offsets :
         {std::vector<std::int64_t>{}, {0}, {5}, {0, 0, 0}}) {
        for (const std::int64_t columns : {0, 7}) {
            const matrix_features f = measure_features(offsets, columns);
            CHECK(f.columns == columns);
            CHECK(f.nonzeros == 0);
            for (const double value : join(f, {})) CHECK(std::isfinite(value));
        }
    }
}

TEST_CASE("features: each in its own place") {
    const matrix_features a{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const feature_values all = join(a, {.entries = 10,
                                        .density = 11,
                                        .effective_nonzeros = 12,
                                        .effective_ratio = 13,
                                        .wants_pairs = true,
                                        .expected_nonzeros = 18,
                                        .most_nonzeros = 19});
    for (int place = 0; place < 13; ++place)
        CHECK(all[static_cast<std::size_t>(place)] == place + 1);
    const auto of = [](const feature_values& v, feature f) {
        return v[static_cast<std::size_t>(f)];
    };
    CHECK(of(all, feature::rows) == 1);
    CHECK(of(all, feature::gini) == 9);
    CHECK(of(all, feature::effective_ratio) == 13);
    CHECK(of(all, feature::has_pairs) == 0);
    CHECK(of(all, feature::wants_pairs) == 1);
    CHECK(of(all, feature::expected_nonzeros) == 18);
    CHECK(of(all, feature::most_nonzeros) == 19);
    CHECK(of(all, feature::knows_work) == 0);
    CHECK(of(join({}, {.has_pairs = true}), feature::has_pairs) == 1);
    CHECK(of(join({}, {.has_dense = true}), feature::has_dense) == 1);
    CHECK(of(join({}, {.knows_work = true}), feature::knows_work) == 1);
    CHECK(of(join({}, {.has_bits = true}), feature::has_bits) == 1);
    const std::set<std::string_view> names(feature_names.begin(), feature_names.end());
    CHECK(names.size() == static_cast<std::size_t>(feature_count));
    CHECK(feature_names[static_cast<std::size_t>(feature::effective_ratio)] == "effective_ratio");
}

} // namespace krylith::spmspv
