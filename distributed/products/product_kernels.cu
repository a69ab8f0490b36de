// The kernels of product_kernels.hpp on CUDA devices.
#include <string>
#include <utility>

#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/run_items.cuh>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/resident_columns.hpp>
#include <krylith/sparse/transpose/entry_rows.cuh>

namespace krylith::cuda {

namespace {

const std::string product_set_up = "set-up of a product";

__global__ void __launch_bounds__(block_threads)
    mark_outer(const std::int32_t* columns, std::int64_t count, std::int32_t begin,
               std::int32_t end, std::int32_t all, std::uint32_t* words, unsigned* bad) {
    bool found = false;
    for (std::int64_t k = first_item(); k < count; k += item_stride()) {
        const std::int32_t column = columns[k];
        if (column >= begin && column < end) continue;
        if (column < 0 || column >= all) {
            found = true;
            continue;
        }
        const std::uint32_t bit = 1u << (column & 31);
        if ((words[column >> 5] & bit) == 0) atomicOr(words + (column >> 5), bit);
    }
    if (found) atomicOr(bad, 1u);
}

/// Counts neighbours that don't ascend, but not those of which a row begins between: these are as
/// many as the second kernel subtracts.
__global__ void __launch_bounds__(block_threads)
    count_column_descents(const std::int32_t* columns, std::int64_t nonzeros,
                          atomic_word* descents) {
    atomic_word mine = 0;
#pragma unroll 8
    for (std::int64_t k = first_item(); k < nonzeros - 1; k += item_stride())
        mine += columns[k] >= columns[k + 1] ? 1u : 0u;
    mine = warp_sum(mine);
    if (lane_number() == 0 && mine != 0) atomicAdd(descents, mine);
}

__global__ void __launch_bounds__(block_threads)
    subtract_row_ends(const __grid_constant__ csr_pattern a, atomic_word* descents) {
    atomic_word mine = 0;
    for (std::int64_t i = first_item(); i < a.rows; i += item_stride()) {
        const std::int64_t end = a.offsets[i + 1];
        if (end == a.offsets[i] || end == a.nonzeros) continue;
        mine += a.indices[end - 1] >= a.indices[end];
    }
    mine = warp_sum(mine);
    if (lane_number() == 0 && mine != 0) atomicAdd(descents, atomic_word{0} - mine);
}

/// Moves entries between packed rows and a matrix. Giant rows and any number of empty ones cost no
/// more than others: a warp has its entries, not its rows.
template <bool Scatter, class V>
__global__ void __launch_bounds__(block_threads)
    move_rows(const __grid_constant__ packed_rows rows, const V* from, V* to) {
    const int lane = lane_number();
    const std::int64_t warps = item_stride() / 32;
    const std::int64_t windows = (rows.entries - 1) / warp_window + 1;
    const std::int64_t first = rows.packed[0];
    for (std::int64_t w = first_item() / 32; w < windows; w += warps) {
        const std::int64_t begin = first + w * warp_window;
        const std::int64_t end = min(begin + warp_window, first + rows.entries);
        std::int64_t row = row_at(rows.packed, rows.rows, begin);
        for (std::int64_t k = begin; k < end; row += 32) {
            const row_group comm = row_group::load(rows.packed, row, rows.rows, begin);
            if (comm.end <= k) { // 32 empty rows, perhaps many more
                row = row_at(rows.packed, rows.rows, k) - 32;
                continue;
            }
            const std::int64_t last = min(comm.end, end);
            const std::int64_t jump = rows.jump[min(row + lane, rows.rows - 1)];
            for (; k < last; k += 32) {
                const int in_group = comm.row_of(static_cast<int>(k - begin));
                const std::int64_t other = k + lane + __shfl_sync(all_lanes, jump, in_group);
                if (k + lane >= last) continue;
                if constexpr (Scatter)
                    to[other] = from[k + lane];
                else
                    to[k + lane - first] = from[other];
            }
            k = last;
        }
    }
}

template <bool Scatter, class V>
void move(device& device, const packed_rows& rows, const V* from, V* to) {
    launch_over(device, (rows.entries + warp_window - 1) / warp_window * 32, move_rows<Scatter, V>,
                rows, from, to);
}

} // namespace

outer_columns find_outer_columns(const std::shared_ptr<device>& device, const std::int32_t* columns,
                                 std::int64_t count, row_range owned, std::int64_t all) {
    if (owned.size() == all) return {{}, {}, !has_bad_column(device, columns, count, all)};
    const auto words = static_cast<std::size_t>((all + 31) / 32);
    resident_set set{buffer<std::uint32_t>(device, words, product_set_up),
                     buffer<std::int32_t>(device, words, product_set_up)};
    set.words.zero();
    // [0] whether a column is wrong, [1] the number of members, then the members: most lists come
    // with both in one transfer, since each wait may be one for kernels of other threads.
    constexpr std::size_t head = 2;
    constexpr std::size_t first_members = std::size_t{1} << 14;
    const auto room = static_cast<std::size_t>(std::min(all - owned.size(), count));
    const buffer<std::int64_t> found(device, head + room, product_set_up);
    device->zero(found.data(), head * sizeof(std::int64_t));
    launch_over(*device, count, mark_outer, columns, count, static_cast<std::int32_t>(owned.begin),
                static_cast<std::int32_t>(owned.end), static_cast<std::int32_t>(all),
                set.words.data(), reinterpret_cast<unsigned*>(found.data()));
    list_members(device, set, found.data() + 1, found.data() + head);
    std::vector<std::int64_t> ghosts(head + std::min(room, first_members));
    device->download(ghosts.data(), found.data(), ghosts.size() * sizeof(std::int64_t));
    if (ghosts[0] != 0) return {{}, {}, false};
    const auto members = static_cast<std::size_t>(ghosts[1]);
    if (members == 0) return {};
    const std::size_t known = std::min(members, ghosts.size() - head);
    ghosts.erase(ghosts.begin(), ghosts.begin() + head);
    ghosts.resize(members);
    if (known < members)
        device->download(ghosts.data() + known, found.data() + head + known,
                         (members - known) * sizeof(std::int64_t));
    buffer<std::int64_t> resident(device, members, product_set_up);
    device->copy(resident.data(), found.data() + head, members * sizeof(std::int64_t));
    return {std::move(ghosts), std::move(resident), true};
}

bool columns_ascend(const std::shared_ptr<device>& device, const csr_pattern& a) {
    const buffer<atomic_word> descents(device, 1, product_set_up);
    descents.zero();
    launch_over(*device, a.nonzeros, count_column_descents, a.indices, a.nonzeros, descents.data());
    launch_over(*device, a.rows, subtract_row_ends, a, descents.data());
    return descents.download().front() == 0;
}

template <class V>
void gather_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    move<false>(device, rows, from, to);
}

template <class V>
void scatter_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    move<true>(device, rows, from, to);
}

template struct item_runs<
    number_locally<std::int32_t>, number_locally<std::int64_t>, find_references<std::int32_t>,
    find_references<std::int64_t>, number_globally, narrow_columns, shift_offsets<std::int32_t>,
    shift_offsets<std::int64_t>, take_lengths, add_lengths, jump_into_rows, jump_from_rows>;
#define KRYLITH_INSTANTIATE(V) template struct instances<gather_rows<V>, scatter_rows<V>>;
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>
#define KRYLITH_INSTANTIATE(T) template struct item_runs<identity_rows<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
