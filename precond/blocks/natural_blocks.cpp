#include <krylith/precond/blocks/natural_blocks.hpp>

#include <algorithm>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/blocks/block_steps.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

block_place place_of(std::int64_t at, std::int64_t size) {
    return {static_cast<std::uint8_t>(at), static_cast<std::uint8_t>(size)};
}

/// Divides a run of rows evenly.
void add_run(std::vector<block_place>& places, std::int64_t rows) {
    const std::int64_t parts = (rows + largest_block - 1) / largest_block;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t size = rows * (part + 1) / parts - rows * part / parts;
        for (std::int64_t at = 0; at < size; ++at) places.push_back(place_of(at, size));
    }
}

} // namespace

std::vector<block_place> equal_blocks(std::int64_t rows, int size) {
    std::vector<block_place> places(as_size(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t at = row % size;
        places[as_size(row)] = place_of(at, std::min<std::int64_t>(size, rows - (row - at)));
    }
    return places;
}

template <class T>
std::vector<block_place> natural_blocks(const distributed_csr<T>& a) {
    std::vector<std::uint8_t> same; // of all rows
    unsigned long long before = 0;
    bool any = false;
    for (const int rank : a.comm().local()) {
        const auto& device = a.comm().handle(rank);
        const device_csr_view<T> view = a.block(rank).view();
        if (view.rows == 0) continue;
        const buffer<unsigned long long> hashes(device, as_size(view.rows), precond_item);
        const buffer<std::uint8_t> flags(device, as_size(view.rows), precond_item);
        const aggregation::rank_rows rows = aggregation::rows_of(a, rank);
        visit_rows(*device, view.rows, aggregation::mean_entries(a, rank),
                   pattern_hash_step{rows, hashes.data()});
        visit_rows(*device, view.rows, 1, same_pattern_step{{}, hashes.data(), flags.data()});
        const std::vector<std::uint8_t> own = flags.download();
        const std::size_t first = same.size();
        same.insert(same.end(), own.begin(), own.end());
        unsigned long long of_first = 0;
        device->download(&of_first, hashes.data(), sizeof of_first);
        same[first] = any && of_first == before ? 1 : 0;
        device->download(&before, hashes.data() + view.rows - 1, sizeof before);
        any = true;
    }
    std::vector<block_place> places;
    places.reserve(same.size());
    std::int64_t run = 0;
    for (const std::uint8_t joins : same) {
        if (joins == 0) {
            add_run(places, run);
            run = 0;
        }
        ++run;
    }
    add_run(places, run);
    return places;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<block_place> natural_blocks(const distributed_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
