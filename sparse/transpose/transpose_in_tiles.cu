#include <krylith/sparse/transpose/tile_kernels.cuh>

#include <krylith/sparse/storage/two_pass_scan.cuh>
#include <krylith/sparse/transpose/transpose_ways.hpp>

namespace krylith::cuda {

namespace {

constexpr int tile_threads = 512;
constexpr int tile_capacity = 4096; ///< entries of a tile

template <class T>
void launch_tiles(device& on, const pattern_view& a, const tile_lists& lists,
                  const transposed_arrays<T>& to) {
    const launch_scope launch(on);
    const auto kernel = transpose_tiles<T, tile_threads, tile_capacity>;
    const std::size_t bytes = tile_memory<tile_capacity>::bytes(lists.cut.tile_bits);
    KRYLITH_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(bytes)));
    kernel<<<static_cast<unsigned>(lists.cut.tiles), tile_threads, bytes, launch.stream()>>>(
        a, lists, to);
    launch.check_launch();
}

} // namespace

template <class T>
bool transpose_in_tiles(const std::shared_ptr<device>& on, const pattern_view& a,
                        const transposed_arrays<T>& to) {
    const column_tiles cut = make_column_tiles(a.rows, a.columns, a.nonzeros, tile_capacity);
    if (!cut.possible() || !has_narrow_positions(a.nonzeros)) return false;
    const std::string item = "transposition";
    const auto tiles = static_cast<std::size_t>(cut.tiles);
    const buffer<tile_chunk> chunks(on, tiles * column_tiles::most_chunks, item);
    // Counters that begin with 0, in one piece: entries, facts, chunks of tiles.
    const std::size_t facts_at = tiles * sizeof(wide_count);
    const std::size_t counts_at = facts_at + sizeof(tile_facts);
    const buffer<unsigned char> counters(on, counts_at + tiles * sizeof(unsigned), item);
    const buffer<std::int64_t> first_entries(on, tiles, item);
    const buffer<unsigned char> scratch(on, scan_scratch_bytes_of<std::int64_t>, item);
    counters.zero();
    const tile_lists lists{cut,
                           chunks.data(),
                           reinterpret_cast<unsigned*>(counters.data() + counts_at),
                           reinterpret_cast<wide_count*>(counters.data()),
                           first_entries.data(),
                           reinterpret_cast<tile_facts*>(counters.data() + facts_at)};
    {
        const launch_scope launch(*on);
        list_chunks<<<launch.blocks(list_chunks, list_threads, (cut.chunks + 7) / 8), list_threads,
                      0, launch.stream()>>>(a, lists);
        launch.check_launch();
    }
    scan(*on, tile_sizes{lists, to.offsets + a.columns}, cut.tiles, scratch.data());
    tile_facts facts{};
    on->download(&facts, lists.facts, sizeof facts);
    if (facts.not_local != 0 || facts.most_chunks > column_tiles::most_chunks ||
        facts.largest > tile_capacity ||
        facts.reads > static_cast<wide_count>(column_tiles::most_reads * a.nonzeros))
        return false;
    launch_tiles(*on, a, lists, to);
    return true;
}

template bool transpose_in_tiles(const std::shared_ptr<device>&, const pattern_view&,
                                 const transposed_arrays<double>&);
template bool transpose_in_tiles(const std::shared_ptr<device>&, const pattern_view&,
                                 const transposed_arrays<float>&);

} // namespace krylith::cuda
