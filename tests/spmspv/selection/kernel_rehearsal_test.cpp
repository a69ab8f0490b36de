// Measuring all kernels, or the parts of a product, changes nothing but the time that it takes.
#include <krylith/spmspv/selection/kernel_rehearsal.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/graph/bfs.hpp>
#include <krylith/graph/pagerank.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmspv/adaptive_product.hpp>

#include <krylith/tests/spmspv/one_device.hpp>
#include <krylith/tests/spmspv/vector_check.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith::spmspv {

namespace {

using summing = plus_times<double>;

bool all_above_0(const std::array<double, kernel_count>& seconds) {
    return std::all_of(seconds.begin(), seconds.end(), [](double s) { return s > 0; });
}

/// Asks for the number of entries, and takes a column kernel of what is given as pairs.
std::shared_ptr<const kernel_model> by_forms() {
    return std::make_shared<const kernel_model>(parse_model(
        "krylith kernel model 1\narchitecture host\ntree pattern\n"
        "node entries 0 1 2\nleaf spmv\nnode has_pairs 0.5 3 4\nleaf spmv\n"
        "node has_dense 0.5 5 6\nleaf column\nleaf spmv\ntree row_distribution\nleaf direct\n"
        "tree column_distribution\nleaf balanced\ntree write_back\nleaf sort\n",
        "test"));
}

struct entries_of_x {
    std::vector<std::int32_t> indices;
    std::vector<double> values;
};

/// Every third entry, in ascending or descending order.
entries_of_x every_third(std::int64_t n, bool ascending) {
    entries_of_x x;
    for (std::int64_t i = 0; i < n; i += 3) {
        x.indices.push_back(static_cast<std::int32_t>(i));
        x.values.push_back(static_cast<double>(i % 5 + 1));
    }
    if (!ascending) {
        std::reverse(x.indices.begin(), x.indices.end());
        std::reverse(x.values.begin(), x.values.end());
    }
    return x;
}

} // namespace

KRYLITH_DEVICE_TEST("kernel rehearsal: all are timed, and x keeps content and forms") {
    const auto a = web<double>(500, 9);
    const csr_csc_pair<double> matrix(device, csr_view<double>(a));
    kernel_rehearsal<summing, double> rehearse(device, a.rows, 1);
    const entries_of_x sorted = every_third(a.columns, true);
    const testing::entry_list<double> content = {sorted.indices, sorted.values};
    for (const bool ascending : {true, false}) {
        for (const auto more : {vector_forms(), vector_forms(vector_form::dense),
                                vector_form::dense | vector_form::bits}) {
            for (const bool without_pairs : {false, true}) {
                if (without_pairs && !more.has(vector_form::dense)) continue;
                sparse_vector<double> x(device, a.columns, 0);
                const entries_of_x given = every_third(a.columns, ascending);
                x.assign(given.indices, given.values);
                for (const auto form : {vector_form::dense, vector_form::bits})
                    if (more.has(form)) x.require(form);
                if (without_pairs) x.drop(vector_form::pairs);
                const vector_forms before = x.forms();
                const auto count = x.known_count();
                for (const bool pairs : {true, false}) {
                    const auto wanted = pairs ? vector_form::pairs : vector_form::dense;
                    CHECK(all_above_0(rehearse(matrix, x, {.wanted = wanted}, -1)));
                    CHECK(x.forms() == before);
                    CHECK(x.known_count() == count);
                    CHECK(testing::flaw_of_forms(x, content) == "");
                }
                // What is left of dropped forms is not taken for something else.
                (void)x.overwrite(vector_form::dense | vector_form::bits);
                x.clear();
                x.require(vector_form::dense);
                x.require(vector_form::bits);
                CHECK(testing::flaw_of_forms(x, {}) == "");
            }
        }
    }
}

KRYLITH_DEVICE_TEST("adaptive product: measured, it chooses and multiplies as if it were not") {
    const auto a = web<double>(500, 9);
    const auto matrix = std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
    const entries_of_x given = every_third(a.columns, true);
    const std::vector<double> dense(static_cast<std::size_t>(a.columns), 2);
    adaptive_product<summing, double> plain(matrix, {.model = by_forms()});
    adaptive_product<summing, double> measured(
        matrix, {.model = by_forms(), .clocked = true, .rehearsals = 1});
    CHECK_FALSE(plain.measures());
    CHECK(measured.measures());
    for (const bool as_pairs : {true, false, false, true, true}) {
        for (const auto wanted : {vector_form::pairs, vector_form::dense}) {
            std::array<std::vector<double>, 2> results;
            std::array<product_record, 2> told;
            for (const bool with : {false, true}) {
                sparse_vector<double> x(device, a.columns, 0);
                sparse_vector<double> y(device, a.rows, 0);
                if (as_pairs)
                    x.assign(given.indices, given.values);
                else
                    x.assign(dense);
                told[with ? 1 : 0] = (with ? measured : plain)(x, y, {.wanted = wanted});
                CHECK(y.forms().has(wanted));
                results[with ? 1 : 0] = y.download_dense();
            }
            CHECK(results[0] == results[1]);
            CHECK(told[0].used == told[1].used);
            CHECK(told[0].rehearsed == std::array<double, kernel_count>{});
            CHECK(told[0].parts.kernel + told[0].parts.model + told[0].parts.features == 0);
            CHECK(all_above_0(told[1].rehearsed));
            const product_parts& parts = told[1].parts;
            CHECK(parts.kernel > 0);
            CHECK(parts.model > 0);
            CHECK(parts.features > 0);
            CHECK(told[1].select_seconds == doctest::Approx(parts.features + parts.model));
            // A column kernel leaves either form of y, and spmv leaves dense.
            const bool converts =
                (direction_of(told[1].used) == direction::push) != as_pairs ||
                (direction_of(told[1].used) == direction::dense && wanted == vector_form::pairs);
            CHECK((parts.conversions > 0) == converts);
        }
    }
    CHECK_THROWS_WITH_AS((adaptive_product<summing, double>(matrix, {.rehearsals = -1})),
                         "adaptive_product: rehearsals are -1, must be 0 or more", usage_error);
}

KRYLITH_GROUP_TEST("graphs: records of measured products, with the same results") {
    const auto a = rmat<double>(8, 6);
    const graph<double> g(group, csr_view<double>(a));
    const bfs_result plain = bfs(g, 3, {.one_device = false});
    const bfs_result measured =
        bfs(g, 3, {.kernels = {.clocked = true, .rehearsals = 1}, .one_device = false});
    CHECK(measured.levels == plain.levels);
    CHECK(measured.parents == plain.parents);
    const auto devices = static_cast<std::size_t>(measured.devices);
    for (const graph_step& step : plain.steps) CHECK(step.products.empty());
    for (const graph_step& step : measured.steps) {
        CHECK(step.launch == 0); // persistent levels have no products
        REQUIRE(step.products.size() == devices);
        for (std::size_t d = 0; d < devices; ++d) {
            CHECK(step.products[d].used == step.kernels[d]);
            CHECK(all_above_0(step.products[d].rehearsed));
        }
    }
    const auto ranks = pagerank(g, {.tolerance = 1e-10});
    const auto ranks_measured = pagerank(g, {.tolerance = 1e-10, .kernels = {.clocked = true}});
    CHECK(ranks_measured.reason == graph_reason::converged);
    double apart = 0;
    for (std::size_t i = 0; i < ranks.ranks.size(); ++i)
        apart += std::abs(ranks.ranks[i] - ranks_measured.ranks[i]);
    CHECK(apart < 1e-9);
    for (const graph_step& step : ranks_measured.steps) {
        REQUIRE(step.products.size() == devices);
        for (const auto& product : step.products) {
            CHECK(product.parts.kernel > 0);
            CHECK(product.rehearsed == std::array<double, kernel_count>{});
        }
    }
}

} // namespace krylith::spmspv
