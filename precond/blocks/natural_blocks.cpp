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

/// Of the patterns of the first row and the last one of a rank.
struct end_hashes {
    unsigned long long first = 0;
    unsigned long long last = 0;
};

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
    const communicator& comm = a.comm();
    std::vector<end_hashes> ends(as_size(comm.ranks()));
    auto same = by_rank(comm, [&](int rank) { // whether a row has the pattern of the one before
        const auto& device = comm.handle(rank);
        const device_csr_view<T> view = a.block(rank).view();
        if (view.rows == 0) return std::vector<std::uint8_t>();
        const buffer<unsigned long long> hashes(device, as_size(view.rows), precond_item);
        const buffer<std::uint8_t> flags(device, as_size(view.rows), precond_item);
        const aggregation::rank_rows rows = aggregation::rows_of(a, rank);
        visit_rows(*device, view.rows, aggregation::mean_entries(a, rank),
                   pattern_hash_step{rows, hashes.data()});
        visit_rows(*device, view.rows, 1, same_pattern_step{{}, hashes.data(), flags.data()});
        std::vector<std::uint8_t> own = flags.download();
        end_hashes& mine = ends[as_size(rank)];
        device->download(&mine.first, hashes.data(), sizeof mine.first);
        device->download(&mine.last, hashes.data() + view.rows - 1, sizeof mine.last);
        return own;
    });
    comm.all_gather_lists(same);
    comm.all_gather(ends);
    const end_hashes* before = nullptr; // of the last rank with rows
    std::vector<block_place> places;
    places.reserve(as_size(a.rows()));
    std::int64_t run = 0;
    for (std::size_t rank = 0; rank < same.size(); ++rank) {
        if (same[rank].empty()) continue;
        same[rank].front() = before != nullptr && ends[rank].first == before->last ? 1 : 0;
        before = &ends[rank];
        for (const std::uint8_t joins : same[rank]) {
            if (joins == 0) {
                add_run(places, run);
                run = 0;
            }
            ++run;
        }
    }
    add_run(places, run);
    return places;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<block_place> natural_blocks(const distributed_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
