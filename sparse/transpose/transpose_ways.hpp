// The four ways of transposing on a CUDA device. Each first enqueues what finds out whether it
// fits, which stops early where it doesn't; the host then reads all facts at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/transpose/column_buckets.hpp>
#include <krylith/sparse/transpose/column_tiles.hpp>
#include <krylith/sparse/transpose/transpose_kernels.hpp>

namespace krylith::cuda {

/// What the memory of a transposition is called.
inline constexpr const char* transposition_item = "transposition";

/// What the pattern says, on the device; all are 0 at first.
struct transpose_facts {
    unsigned differs;   ///< not 0: the pattern is not its own transposed
    unsigned not_local; ///< not 0: a chunk has too many tiles or entries, or a tile too many chunks
    unsigned most_chunks;            ///< of a tile
    unsigned largest_bucket;         ///< entries
    unsigned long long largest_tile; ///< entries
    unsigned long long tile_reads;   ///< indices that all tiles together read
    unsigned long long seen;         ///< entries of the chunks that were counted in tile_reads
};

/// Enqueues the transposition of a square matrix whose pattern is symmetric, or finds out that it
/// isn't: then `to` holds nothing. No scratch.
template <class T>
void transpose_mirrored(const std::shared_ptr<device>& on, const csr_pattern& a,
                        const transposed_arrays<T>& to, transpose_facts* facts);

/// Tiles of columns, sorted in shared memory: for rows whose neighbours have their columns near
/// each other. Scratch: 800 bytes a tile of 900 to 2000 nonzeros.
class tile_transposition {
public:
    tile_transposition(std::shared_ptr<device> on, const csr_pattern& a);

    /// Enqueues the lists of chunks, unless `*unless` will be 0 by then (null: always).
    void list(transpose_facts* facts, const unsigned* unless);
    [[nodiscard]] bool fits(const transpose_facts& facts) const;
    /// Enqueues the transposition.
    template <class T>
    void run(const transposed_arrays<T>& to);

private:
    std::shared_ptr<device> on_;
    csr_pattern a_;
    column_tiles cut_;
    buffer<std::uint64_t> chunks_;
    buffer<unsigned char> counters_;
    buffer<std::int64_t> first_entries_;
    buffer<unsigned char> scratch_;
};

/// Buckets of columns, filled in one pass: for any columns where there are few enough of them.
/// Scratch: 6 bytes and a value a nonzero.
class bucket_transposition {
public:
    bucket_transposition(std::shared_ptr<device> on, const csr_pattern& a);

    /// Enqueues the counts, unless `*unless` will be 0 by then (null: always).
    void count(transpose_facts* facts, const unsigned* unless);
    [[nodiscard]] bool fits(const transpose_facts& facts) const;
    template <class T>
    void run(const transpose_facts& facts, const transposed_arrays<T>& to);

private:
    std::shared_ptr<device> on_;
    csr_pattern a_;
    column_buckets cut_;
    buffer<std::int32_t> counts_;
    buffer<std::int32_t> begins_;
    buffer<unsigned char> scratch_;
};

/// Enqueues the transposition of any pattern with nonzeros by a sort over the device. Scratch: 16
/// bytes a nonzero and 8 that CUB needs, more from 2^32 nonzeros on.
template <class T>
void transpose_by_sort(const std::shared_ptr<device>& on, const csr_pattern& a,
                       const transposed_arrays<T>& to);

} // namespace krylith::cuda
