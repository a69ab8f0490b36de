#include <krylith/sparse/spgemm/row_shares.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include <krylith/device/host/host_team.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::host {

namespace {

constexpr std::int64_t usual_worth = 16384;
std::atomic<std::int64_t> worth{usual_worth};

/// How many products of a row of C lie before each block of 2^bits columns, and all of them.
struct block_products {
    int bits = 0;
    std::vector<std::int64_t> before;
};

block_products count_blocks(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
                            int threads) {
    constexpr std::int64_t most_blocks = 1024;
    block_products found;
    while ((b.columns >> found.bits) >= most_blocks) ++found.bits;
    found.before.resize(as_size((b.columns >> found.bits) + 2));
    const std::int64_t begin = a.offsets[row];
    const std::int64_t entries = a.offsets[row + 1] - begin;
    std::mutex adding;
    in_team(threads, [&](int thread, int team) {
        std::vector<std::int64_t> counts(found.before.size());
        const std::int64_t end = begin + entries * (thread + 1) / team;
        for (std::int64_t k = begin + entries * thread / team; k < end; ++k)
            for (std::int64_t j = b.offsets[a.indices[k]]; j < b.offsets[a.indices[k] + 1]; ++j)
                ++counts.data()[(b.indices[j] >> found.bits) + 1];
        const std::lock_guard lock(adding);
        for (std::size_t block = 0; block < counts.size(); ++block)
            found.before[block] += counts[block];
    });
    std::partial_sum(found.before.begin(), found.before.end(), found.before.begin());
    return found;
}

} // namespace

std::vector<row_place> equal_products(std::span<const std::int64_t> before, int parts) {
    const auto rows = static_cast<std::int64_t>(before.size()) - 1;
    const auto items_before = [&](std::int64_t row) { return before[as_size(row)] + row; };
    const std::int64_t all = items_before(rows);
    const std::int64_t most = 4 * products_worth_a_thread();
    std::vector<row_place> places{{}};
    for (int part = 1; part < parts; ++part) {
        const std::int64_t wanted = all / parts * part + all % parts * part / parts;
        std::int64_t row = places.back().row;
        for (std::int64_t end = rows; row < end;) {
            const std::int64_t middle = (row + end) / 2;
            if (items_before(middle) < wanted)
                row = middle + 1;
            else
                end = middle;
        }
        const bool inside = row > places.back().row; // `wanted` is one of the row before
        const std::int64_t products = inside ? before[as_size(row)] - before[as_size(row) - 1] : 0;
        if (products > most)
            places.push_back({row - 1, 0, std::min(products, wanted - items_before(row - 1))});
        else
            places.push_back({row});
    }
    places.push_back({rows});
    return places;
}

void cut_giant_rows(const csr_pattern& a, const csr_pattern& b, std::vector<row_place>& places,
                    int threads) {
    std::int64_t counted = -1;
    block_products blocks;
    for (row_place& place : places) {
        if (place.products == 0) continue;
        if (place.row != counted) blocks = count_blocks(a, b, counted = place.row, threads);
        const auto block = std::ranges::lower_bound(blocks.before, place.products);
        place.column = (block - blocks.before.begin()) << blocks.bits;
        place.products = *block;
        if (place.column >= b.columns || *block == blocks.before.back()) place = {place.row + 1};
    }
}

std::int64_t products_worth_a_thread() noexcept {
    return worth.load(std::memory_order_relaxed);
}

mocked_products_worth::mocked_products_worth(std::int64_t products) noexcept {
    worth = products;
}

mocked_products_worth::~mocked_products_worth() {
    worth = usual_worth;
}

} // namespace krylith::host
