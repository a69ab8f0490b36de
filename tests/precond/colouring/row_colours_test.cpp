// Colours of rows: what they must be on any matrix, and the same on any number of devices.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/colouring/row_colours.hpp>

#include <krylith/tests/precond/spread_matrix.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/short_memory.hpp>

namespace krylith {

using testing::at;
using testing::spread_matrix;

namespace {

/// The colours of all rows, after a look at what lies on the devices.
std::vector<std::int32_t> colours_on(const device_group& group, const csr_matrix<double>& a) {
    const distributed_csr<double> matrix = spread_matrix(group, a);
    const row_colours found = colour_rows(matrix);
    std::vector<std::int32_t> all;
    std::vector<std::vector<std::int32_t>> of_columns;
    for (int rank = 0; rank < group.size(); ++rank) {
        const local_columns& columns = matrix.columns_of(rank);
        std::vector<std::int32_t>& local = of_columns.emplace_back(at(columns.count()));
        if (!local.empty())
            group[rank].download(local.data(), found.of_columns(rank),
                                 local.size() * sizeof(std::int32_t));
        const auto own = local.begin() + columns.first_owned();
        all.insert(all.end(), own, own + columns.owned().size());
        std::vector<std::int32_t> order(at(columns.owned().size()));
        if (!order.empty())
            group[rank].download(order.data(), found.order(rank),
                                 order.size() * sizeof(std::int32_t));
        const auto begin = found.begin(rank);
        REQUIRE(begin.size() == at(found.count() + 1));
        CHECK(begin.back() == columns.owned().size());
        for (std::int32_t colour = 0; colour < found.count(); ++colour)
            for (std::int64_t i = begin[at(colour)]; i < begin[at(colour) + 1]; ++i) {
                CHECK(own[order[at(i)]] == colour);
                if (i > begin[at(colour)]) CHECK(order[at(i)] > order[at(i - 1)]);
            }
    }
    for (int rank = 0; rank < group.size(); ++rank) {
        const local_columns& columns = matrix.columns_of(rank);
        for (const std::int64_t ghost : columns.ghosts())
            CHECK(of_columns[at(rank)][at(columns.local(ghost))] == all[at(ghost)]);
    }
    const std::set<std::int32_t> used(all.begin(), all.end());
    CHECK(static_cast<int>(used.size()) == found.count());
    return all;
}

/// Neighbours differ, and each has all lower colours among its neighbours.
void check_colours(const csr_matrix<double>& a, const std::vector<std::int32_t>& colours) {
    std::vector<std::set<std::int32_t>> around(at(a.rows));
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (std::int64_t k = a.row_offsets[at(row)]; k < a.row_offsets[at(row) + 1]; ++k) {
            const std::int32_t j = a.column_indices[at(k)];
            if (j == row) continue;
            around[at(row)].insert(colours[at(j)]);
            around[at(j)].insert(colours[at(row)]);
        }
    std::int64_t same = 0;
    std::int64_t not_least = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int32_t own = colours[at(row)];
        same += around[at(row)].count(own) != 0;
        for (std::int32_t c = 0; c < own; ++c) not_least += around[at(row)].count(c) == 0;
    }
    CHECK(same == 0);
    CHECK(not_least == 0);
}

} // namespace

KRYLITH_GROUP_TEST("colours of rows: neighbours differ, and they are the same on one device") {
    const device_group one = device_group::host(1);
    for (const testing::battery_entry& entry : testing::battery()) {
        const auto& a = entry.matrix;
        if (a.rows > 3000) continue;
        CAPTURE(entry.name);
        const auto colours = colours_on(group, a);
        check_colours(a, colours);
        CHECK(colours == colours_on(one, a));
    }
}

KRYLITH_GROUP_TEST("colours of rows: grids have few, cliques one a row") {
    const auto grid = colours_on(group, poisson2d<double>(40, 40));
    CHECK(*std::max_element(grid.begin(), grid.end()) <= 4);
    testing::triplets all;
    for (int i = 0; i < 150; ++i)
        for (int j = 0; j < 150; ++j) all.push_back({i, j, 1.0});
    const auto clique = colours_on(group, testing::from_triplets(150, all));
    CHECK(*std::max_element(clique.begin(), clique.end()) == 149); // more than 64 are looked at
}

KRYLITH_GROUP_TEST("colours of rows: refused memory leaves nothing behind") {
    const auto a = testing::random_matrix(60, 4, 1, 3);
    const auto matrix = spread_matrix(group, a);
    const auto before = testing::live_bytes(group);
    for (int k = 0;; ++k) {
        testing::short_memory memory(group, k);
        try {
            (void)colour_rows(matrix);
        } catch (const device_error&) {
            CHECK(testing::live_bytes(group) == before);
            continue;
        }
        CHECK(memory.count() <= k);
        break;
    }
    CHECK(testing::live_bytes(group) == before);
}

} // namespace krylith
