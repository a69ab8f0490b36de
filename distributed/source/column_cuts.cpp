#include <krylith/distributed/source/column_cuts.hpp>

#include <algorithm>
#include <limits>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/source/column_cut_tasks.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/pcsr.hpp>

namespace krylith {

namespace {

/// Adds up the columns' entries of all ranks on rank 0, and finds there where the cuts fall.
std::vector<found_cut> find_places(const communicator& comm, std::span<const resident_csr> parts,
                                   std::int64_t columns, const nonzero_partition& entries) {
    const auto& adder = comm.handle(0);
    std::vector<buffer<std::int32_t>> counts;
    std::vector<buffer<std::int32_t>> arrived;
    const settled_on_failure settled(comm); // before these are freed
    counts_of_ranks of{{}, comm.ranks()};
    for (const int rank : comm.local()) {
        const resident_csr& part = parts[as_size(rank)];
        const auto& mine = counts.emplace_back(comm.handle(rank), as_size(columns), set_up_item);
        mine.zero();
        run_items(comm[rank], count_columns{part.columns, mine.data()}, part.nonzeros);
        of.of[rank] = mine.data();
        if (rank == 0) continue;
        const auto& there = arrived.emplace_back(adder, as_size(columns), set_up_item);
        comm.copy(rank, mine.data(), 0, there.data(), mine.size() * sizeof(std::int32_t));
        of.of[rank] = there.data();
    }
    comm.join();
    const buffer<std::int64_t> offsets(adder, as_size(columns) + 1, set_up_item);
    add_up_sizes(adder, columns, of, offsets.data());
    const buffer<std::int64_t> cuts(adder, std::span(entries.begin), set_up_item);
    const buffer<found_cut> found(adder, cuts.size(), set_up_item);
    run_items(*adder, find_cut{offsets.data(), columns, of, cuts.data(), found.data()},
              static_cast<std::int64_t>(cuts.size()));
    return found.download();
}

/// Enqueues the search for the entry of a column, on one rank, at which a cut is.
void seek(const std::shared_ptr<device>& device, const resident_csr& part, std::int64_t column,
          std::int64_t before, std::int64_t* key) {
    const std::int64_t stretches = (part.nonzeros + stretch_length - 1) / stretch_length;
    const buffer<std::int32_t> counts(device, as_size(stretches), set_up_item);
    const buffer<std::int64_t> sums(device, as_size(stretches) + 1, set_up_item);
    const auto number = static_cast<std::int32_t>(column);
    visit_rows(*device, stretches, stretch_length,
               count_in_stretches{part.columns, part.nonzeros, number, counts.data()});
    add_up_sizes(device, stretches, counts.data(), sums.data());
    run_items(*device, seek_entry{part.columns, sums.data(), stretches, number, before, key}, 1);
}

/// Enqueues the keys of cuts among the entries of a rank. A cut inside of a column is inside of the
/// entries that one rank has of it: those of lower ranks lie before it, of higher ones behind it.
buffer<std::int64_t> place_cuts(const std::shared_ptr<device>& device, const resident_csr& part,
                                int rank, std::span<const found_cut> found) {
    struct sought {
        std::size_t cut;
        std::int64_t before; ///< entries of its column on this rank
    };
    std::vector<sought> inside;
    std::vector<std::int64_t> keys(found.size());
    for (std::size_t k = 0; k + 1 < found.size(); ++k) {
        const found_cut& cut = found[k];
        keys[k] = entry_key(cut.place.first, 0);
        if (!cut.place.inside) continue;
        std::int64_t before = cut.before;
        for (int lower = 0; lower < rank; ++lower) before -= cut.counts[lower];
        if (before >= cut.counts[rank]) continue;
        keys[k] = entry_key(cut.place.first - 1, 0);
        if (before > 0) inside.push_back({k, before});
    }
    keys.back() = std::numeric_limits<std::int64_t>::max();
    buffer<std::int64_t> result(device, std::span<const std::int64_t>(keys), set_up_item);
    for (const sought& s : inside)
        seek(device, part, found[s.cut].place.first - 1, s.before, result.data() + s.cut);
    return result;
}

} // namespace

column_cuts find_column_cuts(const communicator& comm, std::span<const resident_csr> parts,
                             std::int64_t columns) {
    std::int64_t nonzeros = 0;
    for (const resident_csr& part : parts) nonzeros += part.nonzeros;
    const nonzero_partition entries = equal_entries(nonzeros, comm.ranks());
    const std::vector<found_cut> found = find_places(comm, parts, columns, entries);
    std::vector<cut_place> places(found.size());
    std::ranges::transform(found, places.begin(), &found_cut::place);
    column_cuts result{make_pcsr(columns, places, entries).owned(), {}};
    for (const int rank : comm.local())
        result.keys.push_back(place_cuts(comm.handle(rank), parts[as_size(rank)], rank, found));
    return result;
}

} // namespace krylith
