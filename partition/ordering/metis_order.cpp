#include <krylith/partition/ordering/metis_order.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/partition/ordering/symmetric_graph.hpp>

#if KRYLITH_HAVE_METIS
#include <mutex>

#include <metis.h>

#include <krylith/device/libraries/shared_library.hpp>
#include <krylith/matrix/types/index_width.hpp>
#endif

namespace krylith {

#if KRYLITH_HAVE_METIS

namespace {

#ifndef KRYLITH_METIS_ELSEWHERE
#define KRYLITH_METIS_ELSEWHERE ""
#endif

const shared_library metis_library = {
    .name = "METIS",
    .file = KRYLITH_SONAME("libmetis", METIS_VER_MAJOR),
    .other = KRYLITH_METIS_ELSEWHERE,
    .needs = "install METIS (Debian, Ubuntu: package libmetis5), or take another order of rows: "
             "allowed are none and rcm"};

KRYLITH_LOADED(metis_library, METIS_SetDefaultOptions);
KRYLITH_LOADED(metis_library, METIS_PartGraphKway);

/// The part of each row.
std::vector<idx_t> k_way(const symmetric_graph& graph, std::span<const std::int64_t> row_offsets,
                         int parts) {
    if (sizeof(idx_t) == sizeof(std::int32_t)) {
        check_index_size("reordering metis: the number of nonzeros",
                         row_offsets.back() - row_offsets.front());
        check_index_size("reordering metis: the number of entries of A + A'", graph.offsets.back());
    }
    auto rows = static_cast<idx_t>(graph.vertices());
    // METIS takes the arrays by pointers that are not const, and changes none of them.
    std::vector<idx_t> offsets(graph.offsets.begin(), graph.offsets.end());
    std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
    std::vector<idx_t> weights;
    weights.reserve(static_cast<std::size_t>(rows));
    for (std::size_t row = 0; row + 1 < row_offsets.size(); ++row)
        weights.push_back(static_cast<idx_t>(row_offsets[row + 1] - row_offsets[row]));

    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 20240101;
    options[METIS_OPTION_UFACTOR] = 10; // thousandths above the mean: the slowest device counts
    idx_t constraints = 1;
    idx_t wanted = parts;
    idx_t volume = 0;
    std::vector<idx_t> part(static_cast<std::size_t>(rows));
    static std::mutex one_at_a_time; // draws from C's rand(), which all threads share
    const std::lock_guard lock(one_at_a_time);
    const int status = METIS_PartGraphKway(&rows, &constraints, offsets.data(), neighbours.data(),
                                           weights.data(), nullptr, nullptr, &wanted, nullptr,
                                           nullptr, options, &volume, part.data());
    if (status == METIS_ERROR_MEMORY)
        throw device_error("reordering metis: the host's memory is too short for METIS on " +
                           std::to_string(rows) + " rows; allowed are rcm and none");
    if (status != METIS_OK)
        throw usage_error("reordering metis: METIS refused " + std::to_string(rows) + " rows in " +
                          std::to_string(parts) + " parts with status " + std::to_string(status));
    return part;
}

/// Puts the rows of part 0 first, and so on, in the order that they had.
part_order gathered(const permutation& order, const std::vector<idx_t>& part, int parts) {
    part_order result;
    std::vector<std::int64_t>& begin = result.rows.begin;
    begin.assign(static_cast<std::size_t>(parts) + 1, 0);
    for (const idx_t p : part) ++begin[static_cast<std::size_t>(p) + 1];
    for (std::size_t p = 1; p < begin.size(); ++p) begin[p] += begin[p - 1];
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    result.order.source.resize(part.size());
    result.order.place.resize(part.size());
    for (const std::int32_t row : order.source) {
        const auto old = static_cast<std::size_t>(row);
        const std::int64_t place = next[static_cast<std::size_t>(part[old])]++;
        result.order.source[static_cast<std::size_t>(place)] = row;
        result.order.place[old] = static_cast<std::int32_t>(place);
    }
    return result;
}

/// Nonzeros of each new row are before[i + 1] - before[i].
std::vector<std::int64_t> nonzeros_before(std::span<const std::int64_t> row_offsets,
                                          const permutation& order) {
    std::vector<std::int64_t> before{0};
    before.reserve(order.source.size() + 1);
    for (const std::int32_t row : order.source) {
        const auto old = static_cast<std::size_t>(row);
        before.push_back(before.back() + row_offsets[old + 1] - row_offsets[old]);
    }
    return before;
}

std::int64_t largest(const std::vector<std::int64_t>& before, const row_partition& rows) {
    std::int64_t most = 0;
    for (int part = 0; part < rows.ranks(); ++part) {
        const row_range mine = rows.owned(part);
        most = std::max(most, before[static_cast<std::size_t>(mine.end)] -
                                  before[static_cast<std::size_t>(mine.begin)]);
    }
    return most;
}

} // namespace

bool metis_available() {
    return metis_library.there();
}

part_order metis_order(std::span<const std::int64_t> row_offsets,
                       std::span<const std::int32_t> column_indices, int parts) {
    if (parts < 1)
        throw usage_error("metis_order: parts is " + std::to_string(parts) +
                          ", allowed are 1 and more");
    metis_library.require();
    const symmetric_graph graph = make_symmetric_graph(row_offsets, column_indices);
    part_order narrow;
    narrow.order = reverse_cuthill_mckee(graph);
    const auto assigned = nonzeros_before(row_offsets, narrow.order);
    narrow.rows = equal_nonzeros(assigned, parts);
    if (parts == 1 || graph.vertices() <= parts || graph.neighbours.empty()) return narrow;
    part_order found = gathered(narrow.order, k_way(graph, row_offsets, parts), parts);
    const std::int64_t most = largest(nonzeros_before(row_offsets, found.order), found.rows);
    const std::int64_t equal = largest(assigned, narrow.rows);
    return most - equal > equal / 10 ? narrow : found;
}

#else

bool metis_available() {
    return false;
}

part_order metis_order(std::span<const std::int64_t>, std::span<const std::int32_t>, int) {
    throw usage_error("reordering metis needs METIS, which this build lacks (CMake: "
                      "KRYLITH_METIS=ON): allowed are none and rcm");
}

#endif

} // namespace krylith
