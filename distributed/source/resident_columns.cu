// The columns of a device's rows, looked at on the device. All kernels read 4 bytes a nonzero with
// unit stride, whatever the lengths of rows.
#include <krylith/distributed/source/resident_columns.hpp>

#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/distributed/source/memory_items.hpp>

namespace krylith::cuda {

namespace {

__global__ void __launch_bounds__(block_threads)
    find_bad_columns(const std::int32_t* columns, std::int64_t count, std::int64_t all,
                     unsigned* bad) {
    const auto end = static_cast<std::uint32_t>(all); // at most 2^31; a negative column is above
    unsigned found = 0;
#pragma unroll 8
    for (std::int64_t k = first_item(); k < count; k += item_stride())
        found |= static_cast<std::uint32_t>(columns[k]) >= end ? 1u : 0u;
    if (found != 0) atomicOr(bad, 1u);
}

/// The ends of 32 rows, and the row among them that has an entry.
struct row_ends {
    std::int64_t end[32];

    [[nodiscard]] __device__ int row_of(std::int64_t entry) const {
        int row = 0;
        for (int by = 16; by > 0; by /= 2)
            if (end[row + by - 1] <= entry) row += by;
        return row;
    }
};

/// Looks at the entries of 32 rows with a warp.
__global__ void __launch_bounds__(block_threads)
    mark_ghosts(const __grid_constant__ resident_csr a, std::int32_t owned_begin,
                std::int32_t owned_end, std::uint32_t* words, std::uint8_t* touches_ghost,
                atomic_word* boundary_rows) {
    __shared__ row_ends ends_of_warp[block_warps];
    row_ends& ends = ends_of_warp[threadIdx.x / 32];
    const int lane = lane_number();
    atomic_word boundary = 0;
    for (std::int64_t first = first_item() / 32 * 32; first < a.rows; first += item_stride()) {
        const std::int64_t row = first + lane;
        ends.end[lane] = a.offsets[row < a.rows ? row + 1 : a.rows];
        __syncwarp();
        const std::int64_t last = ends.end[31];
        unsigned touching = 0;
        for (std::int64_t k = a.offsets[first] + lane; k < last; k += 32) {
            const std::int32_t column = a.columns[k];
            if (column >= owned_begin && column < owned_end) continue;
            touching |= 1u << ends.row_of(k);
            if (words == nullptr) continue;
            const std::uint32_t bit = 1u << (column & 31);
            if ((words[column >> 5] & bit) == 0) atomicOr(words + (column >> 5), bit);
        }
        touching = __reduce_or_sync(all_lanes, touching);
        if (row < a.rows) touches_ghost[row] = static_cast<std::uint8_t>(touching >> lane & 1);
        boundary += static_cast<atomic_word>(__popc(touching));
        __syncwarp(); // before the next rows' ends are stored
    }
    if (lane == 0 && boundary != 0) atomicAdd(boundary_rows, boundary);
}

/// The words of a set for the scan.
struct set_words {
    struct word {
        std::int32_t size;
    };
    const std::uint32_t* words;
    std::uint32_t word_count;
    std::int32_t* below;
    std::int64_t* total;

    [[nodiscard]] __device__ std::uint32_t count() const { return word_count; }
    [[nodiscard]] __device__ word load(std::uint32_t w) const { return {__popc(words[w])}; }
    __device__ void emit(bool there, std::uint32_t w, word, std::int32_t before) const {
        if (there) below[w] = before;
    }
    __device__ void finish(std::int32_t sum) const { *total = sum; }
};

__global__ void __launch_bounds__(block_threads)
    store_members(const std::uint32_t* words, const std::int32_t* below, std::int64_t count,
                  std::int64_t* members) {
    for (std::int64_t w = first_item(); w < count; w += item_stride()) {
        std::int64_t* to = members + below[w];
        for (std::uint32_t bits = words[w]; bits != 0; bits &= bits - 1)
            *to++ = w * 32 + __ffs(static_cast<int>(bits)) - 1;
    }
}

/// Copies the first columns of rows and of those after them: counts[k] and most columns from
/// most * k on, where k / 2 is the number of a row in the list.
__global__ void __launch_bounds__(block_threads)
    sample_columns(const __grid_constant__ resident_csr a, const std::int64_t* rows,
                   std::int64_t count, std::int64_t most, std::int32_t* counts,
                   std::int32_t* columns) {
    for (std::int64_t k = first_item(); k < 2 * count; k += item_stride()) {
        const std::int64_t row = rows[k / 2] + k % 2;
        const std::int64_t begin = a.offsets[row];
        const std::int64_t length = a.offsets[row + 1] - begin;
        counts[k] = static_cast<std::int32_t>(length < most ? length : most);
        for (std::int32_t i = 0; i < counts[k]; ++i) columns[most * k + i] = a.columns[begin + i];
    }
}

__global__ void __launch_bounds__(block_threads)
    number_columns(const std::int32_t* columns, std::int64_t count, std::int32_t owned_begin,
                   std::int32_t owned_end, std::int32_t first_owned, const std::uint32_t* words,
                   const std::int32_t* below, std::int32_t* local) {
    for (std::int64_t k = first_item(); k < count; k += item_stride()) {
        const std::int32_t column = columns[k];
        if (column >= owned_begin && column < owned_end)
            local[k] = first_owned + column - owned_begin;
        else
            local[k] = below[column >> 5] +
                       __popc(words[column >> 5] & ((1u << (column & 31)) - 1)) +
                       (column < owned_begin ? 0 : owned_end - owned_begin);
    }
}

} // namespace

bool has_bad_column(const std::shared_ptr<device>& device, const std::int32_t* columns,
                    std::int64_t count, std::int64_t all) {
    if (count == 0) return false;
    const buffer<unsigned> bad(device, 1, set_up_item);
    bad.zero();
    launch_over(*device, count, find_bad_columns, columns, count, all, bad.data());
    return bad.download().front() != 0;
}

std::int64_t find_ghosts(const std::shared_ptr<device>& device, const resident_csr& matrix,
                         row_range owned, std::int64_t all, resident_set* ghosts,
                         std::uint8_t* touches_ghost) {
    if (ghosts != nullptr && ghosts->words.size() == 0) {
        const auto words = static_cast<std::size_t>((all + 31) / 32);
        ghosts->words = buffer<std::uint32_t>(device, words, set_up_item);
        ghosts->words.zero();
        ghosts->below = buffer<std::int32_t>(device, words, set_up_item);
    }
    if (matrix.rows == 0) return 0;
    const buffer<atomic_word> boundary(device, 1, set_up_item);
    boundary.zero();
    launch_over(*device, matrix.rows, mark_ghosts, matrix, static_cast<std::int32_t>(owned.begin),
                static_cast<std::int32_t>(owned.end),
                ghosts != nullptr ? ghosts->words.data() : nullptr, touches_ghost, boundary.data());
    return matrix.rows - static_cast<std::int64_t>(boundary.download().front());
}

namespace {

void count_members(const std::shared_ptr<device>& device, resident_set& set, std::int64_t* total) {
    const buffer<std::byte> scratch(device, scan_scratch_bytes, set_up_item);
    const auto count = static_cast<std::int64_t>(set.words.size());
    scan(*device,
         set_words{set.words.data(), static_cast<std::uint32_t>(count), set.below.data(), total},
         count, scratch.data());
}

void store_all(device& device, const resident_set& set, std::int64_t* listed) {
    const auto count = static_cast<std::int64_t>(set.words.size());
    launch_over(device, count, store_members, set.words.data(), set.below.data(), count, listed);
}

} // namespace

buffer<std::int64_t> list_members(const std::shared_ptr<device>& device, resident_set& set) {
    if (set.words.size() == 0) return {};
    const buffer<std::int64_t> total(device, 1, set_up_item);
    count_members(device, set, total.data());
    const auto members = static_cast<std::size_t>(total.download().front());
    if (members == 0) return {};
    buffer<std::int64_t> listed(device, members, set_up_item);
    store_all(*device, set, listed.data());
    return listed;
}

void list_members(const std::shared_ptr<device>& device, resident_set& set, std::int64_t* total,
                  std::int64_t* listed) {
    count_members(device, set, total);
    store_all(*device, set, listed);
}

std::vector<std::array<std::vector<std::int32_t>, 2>>
first_columns(const std::shared_ptr<device>& device, const resident_csr& matrix,
              std::span<const std::int64_t> rows, std::int64_t most) {
    std::vector<std::array<std::vector<std::int32_t>, 2>> result(rows.size());
    if (rows.empty()) return result;
    const auto count = static_cast<std::int64_t>(rows.size());
    const buffer<std::int64_t> list(device, rows, set_up_item);
    const buffer<std::int32_t> counts(device, 2 * rows.size(), set_up_item);
    const buffer<std::int32_t> columns(device, 2 * rows.size() * static_cast<std::size_t>(most),
                                       set_up_item);
    columns.zero();
    launch_over(*device, 2 * count, sample_columns, matrix, list.data(), count, most, counts.data(),
                columns.data());
    const auto lengths = counts.download();
    const auto all = columns.download();
    for (std::size_t k = 0; k < lengths.size(); ++k) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(k) * most;
        result[k / 2][k % 2].assign(begin, begin + lengths[k]);
    }
    return result;
}

void localize(device& device, const std::int32_t* columns, std::int64_t count,
              const local_indices& indices, const resident_set& ghosts, std::int32_t* local) {
    if (count == 0) return;
    const row_range owned = indices.owned();
    launch_over(device, count, number_columns, columns, count,
                static_cast<std::int32_t>(owned.begin), static_cast<std::int32_t>(owned.end),
                static_cast<std::int32_t>(indices.first_owned()), ghosts.words.data(),
                ghosts.below.data(), local);
}

} // namespace krylith::cuda
