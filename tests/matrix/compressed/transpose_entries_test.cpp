// Both ways of transposing on the host, with any number of threads, against the plain loop.
#include <krylith/matrix/compressed/transpose_entries.hpp>

#include <vector>

#include <doctest/doctest.h>

#include <krylith/tests/sparse/transpose/pattern_cases.hpp>

namespace krylith {

namespace {

using testing::plain_transposition;

struct transposed_entries {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> majors;
    std::vector<std::int64_t> places;
};

compressed_pattern view_of(const csr_matrix<double>& a) {
    return {a.row_offsets, a.column_indices, a.columns};
}

transposed_entries transposed(const csr_matrix<double>& a, const transposition_plan& plan) {
    transposed_entries o;
    o.offsets.assign(static_cast<std::size_t>(a.columns) + 1, -1);
    o.majors.assign(a.column_indices.size(), -1);
    o.places.assign(a.column_indices.size(), -1);
    transpose_entries<std::int64_t>(
        view_of(a), o.offsets, plan, [](std::int64_t k) { return k; },
        [&](std::int64_t place, std::int64_t major, std::int64_t k) {
            o.majors[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(major);
            o.places[static_cast<std::size_t>(place)] = k;
        });
    return o;
}

void check_transposition(const csr_matrix<double>& a, const transposed_entries& found) {
    const auto [expected, places] = plain_transposition(a);
    CHECK(found.offsets == expected.row_offsets);
    CHECK(found.majors == expected.column_indices);
    CHECK(found.places == places);
}

} // namespace

TEST_CASE("transposition on the host: any plan, all patterns") {
    for (const auto& c : testing::pattern_cases()) {
        CAPTURE(c.name);
        const auto a = testing::matrix_of<double>(c);
        for (const bool in_blocks : {false, true})
            for (int parts = 1; parts <= 8; ++parts) {
                CAPTURE(in_blocks);
                CAPTURE(parts);
                check_transposition(a, transposed(a, {in_blocks, parts}));
            }
        check_transposition(a, transposed(a, plan_transposition(view_of(a), 4)));
    }
}

TEST_CASE("transposition on the host: in blocks even where one has all entries") {
    // transpose_entries() takes the other way there; this one must be right all the same.
    const auto a = testing::matrix_of<double>(
        {"one column", 1, testing::rows_of(500000, [](int, auto& to) { to = {0}; })});
    const column_blocks cut(view_of(a), 3);
    CHECK(cut.largest() == 500000);
    transposed_entries o;
    o.offsets.resize(2);
    o.majors.resize(a.column_indices.size());
    o.places.resize(a.column_indices.size());
    transpose_in_blocks<std::int64_t>(
        view_of(a), cut, o.offsets, 3, [](std::int64_t k) { return k; },
        [&](std::int64_t place, std::int64_t major, std::int64_t k) {
            o.majors[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(major);
            o.places[static_cast<std::size_t>(place)] = k;
        });
    check_transposition(a, o);
}

TEST_CASE("transposition on the host: counters of 64 bits") {
    const auto a = testing::matrix_of<double>({"mesh", 8000, testing::stencil(7, 20, 20, 20)});
    transposed_entries o;
    o.offsets.resize(8001);
    o.majors.resize(a.column_indices.size());
    o.places.resize(a.column_indices.size());
    scan_transposition<std::int64_t> places(view_of(a), o.offsets, 3);
    places.for_each_place([&](std::int64_t place, std::int64_t major, std::int64_t k) {
        o.majors[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(major);
        o.places[static_cast<std::size_t>(place)] = k;
    });
    check_transposition(a, o);
}

TEST_CASE("transposition on the host: the plan follows sizes and columns") {
    const auto plan_of = [](std::int64_t columns, const testing::pattern& p, int threads) {
        return plan_transposition({p.offsets, p.indices, columns}, threads);
    };
    const auto mesh = testing::stencil(7, 20, 20, 20);
    CHECK(plan_of(8000, mesh, 8).parts == 1); // not worth a second thread
    const auto larger = testing::stencil(27, 30, 30, 30);
    CHECK_FALSE(plan_of(27000, larger, 4).in_blocks);
    CHECK(plan_of(27000, larger, 4).parts == 4);
    // Counters of each thread would outgrow the result.
    const auto wide = testing::random_pattern(40000, 20, 2000000, 1);
    CHECK(plan_of(2000000, wide, 4).in_blocks);
    CHECK(plan_of(2000000, wide, 4).parts == 4);
    CHECK_FALSE(plan_of(2000000, wide, 1).in_blocks);
    // The result outgrows caches, and its places are far from each other.
    const auto scattered = testing::rows_of(1000, [](int row, auto& to) {
        for (int k = 0; k < 5000; ++k)
            to.push_back(static_cast<std::int32_t>((row * 7919LL + k * 104729LL) % 1000003));
    });
    CHECK(plan_of(1000003, scattered, 2).in_blocks);
    CHECK_FALSE(plan_of(1000003, scattered, 1).in_blocks);
    const auto local = testing::rows_of(1000, [](int row, auto& to) {
        for (int k = 0; k < 5000; ++k) to.push_back(row * 900 + k);
    });
    CHECK_FALSE(plan_of(1000003, local, 2).in_blocks);
}

} // namespace krylith
