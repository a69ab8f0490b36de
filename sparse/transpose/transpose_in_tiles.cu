#include <utility>

#include <krylith/device/cuda/shared_memory.cuh>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/sparse/transpose/tile_kernels.cuh>

namespace krylith::cuda {

namespace {

constexpr int tile_threads = 256;
constexpr int tile_capacity = 4096; ///< entries of a tile
/// Counters that begin with 0, in one piece: the entries of tiles, then their chunks.
std::size_t counter_bytes(std::int64_t tiles) {
    return static_cast<std::size_t>(tiles) * (sizeof(wide_count) + sizeof(unsigned));
}

} // namespace

tile_transposition::tile_transposition(std::shared_ptr<device> on, const csr_pattern& a)
    : on_(std::move(on)),
      a_(a),
      cut_(make_column_tiles(a.rows, a.columns, a.nonzeros, tile_capacity)) {
    if (!cut_.possible() || !has_narrow_positions(a.nonzeros)) {
        cut_.tiles = 0;
        return;
    }
    const auto tiles = static_cast<std::size_t>(cut_.tiles);
    chunks_ = {on_, tiles * column_tiles::most_chunks, transposition_item};
    counters_ = {on_, counter_bytes(cut_.tiles), transposition_item};
    first_entries_ = {on_, tiles + 1, transposition_item};
    scratch_ = {on_, scan_scratch_bytes_of<std::int64_t>, transposition_item};
}

namespace {

tile_lists lists_of(const column_tiles& cut, std::uint64_t* chunks, unsigned char* counters,
                    std::int64_t* first_entries, transpose_facts* facts) {
    auto* const entries = reinterpret_cast<wide_count*>(counters);
    return {cut,
            reinterpret_cast<tile_chunk*>(chunks),
            reinterpret_cast<unsigned*>(entries + cut.tiles),
            entries,
            first_entries,
            facts};
}

} // namespace

void tile_transposition::list(transpose_facts* facts, const unsigned* unless) {
    if (cut_.tiles == 0) return;
    counters_.zero();
    const tile_lists lists =
        lists_of(cut_, chunks_.data(), counters_.data(), first_entries_.data(), facts);
    {
        const launch_scope launch(*on_);
        list_chunks<<<launch.blocks(list_chunks, list_threads, (cut_.chunks + 7) / 8), list_threads,
                      0, launch.stream()>>>(a_, lists, unless);
        launch.check_launch();
    }
    scan(*on_, tile_sizes{lists}, cut_.tiles, scratch_.data());
}

bool tile_transposition::fits(const transpose_facts& facts) const {
    return cut_.tiles != 0 && facts.not_local == 0 &&
           facts.most_chunks <= column_tiles::most_chunks && facts.largest_tile <= tile_capacity &&
           facts.tile_reads <= static_cast<wide_count>(column_tiles::most_reads * a_.nonzeros);
}

template <class T>
void tile_transposition::run(const transposed_arrays<T>& to) {
    const launch_scope launch(*on_);
    const auto kernel = transpose_tiles<T, tile_threads, tile_capacity>;
    const std::size_t bytes = tile_memory<tile_capacity>::bytes(cut_.tile_bits);
    allow_shared(kernel, bytes);
    kernel<<<static_cast<unsigned>(cut_.tiles), tile_threads, bytes, launch.stream()>>>(
        a_, lists_of(cut_, chunks_.data(), counters_.data(), first_entries_.data(), nullptr), to);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T) template void tile_transposition::run(const transposed_arrays<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
