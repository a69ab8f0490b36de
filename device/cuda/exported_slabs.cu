#include <krylith/device/cuda/exported_slabs.cuh>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/cuda/posted_memory.hpp>
#include <krylith/device/host/shared_slabs.hpp>

namespace krylith::cuda {

namespace {

/// Ids of posted memory have this bit.
constexpr std::uint64_t posted_bit = std::uint64_t{1} << 63;

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(exported_piece::name));

} // namespace

exported_slabs::~exported_slabs() {
    end();
}

void exported_slabs::free_all(std::vector<exported_piece>& list) const noexcept {
    const current_device current(ordinal_);
    for (const exported_piece& one : list)
        if (cudaFree(one.begin) != cudaSuccess) cudaGetLastError();
    list.clear();
}

void exported_slabs::begin() {
    const std::scoped_lock lock(guard_);
    if (std::exchange(in_use_, true)) refuse_second();
}

void exported_slabs::end() noexcept {
    const std::scoped_lock lock(guard_);
    in_use_ = false;
    for (auto* const list : {&withdrawn_, &being_told_, &told_}) free_all(*list);
    for (auto& [begin, slab] : slabs_) slab.id = 0;
}

void* exported_slabs::allocate(std::size_t bytes) {
    const current_device current(ordinal_);
    void* memory = nullptr;
    const bool there = cudaMalloc(&memory, bytes) == cudaSuccess;
    const std::scoped_lock lock(guard_);
    exported_piece slab{0, static_cast<std::byte*>(memory), bytes, {}};
    if (!there) {
        cudaGetLastError();
        // What others have not been told of yet they still map rightly.
        const auto found = std::ranges::find_if(
            withdrawn_, [&](const exported_piece& one) { return one.bytes >= bytes; });
        if (found == withdrawn_.end()) return nullptr;
        slab = *found;
        withdrawn_.erase(found);
    }
    slabs_.emplace(slab.begin, slab);
    return slab.begin;
}

void exported_slabs::free(void* memory) noexcept {
    const std::scoped_lock lock(guard_);
    const auto found = slabs_.find(static_cast<std::byte*>(memory));
    if (found == slabs_.end()) return;
    const exported_piece slab = found->second;
    slabs_.erase(found);
    if (slab.id != 0) {
        try {
            withdrawn_.push_back(slab);
            return;
        } catch (...) { // it is freed under the others, rather than never
        }
    }
    const current_device current(ordinal_);
    if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

exported_piece exported_slabs::piece_of(const void* memory) {
    if (shared_slabs& posted = posted_slabs(); posted.has(memory)) {
        exported_piece piece = posted.piece_of(memory);
        piece.id |= posted_bit;
        return piece;
    }
    auto* const at = static_cast<std::byte*>(const_cast<void*>(memory));
    const std::scoped_lock lock(guard_);
    const auto next = slabs_.upper_bound(at);
    if (next == slabs_.begin()) return {};
    exported_piece& slab = std::prev(next)->second;
    if (static_cast<std::size_t>(at - slab.begin) >= slab.bytes) return {};
    if (slab.id != 0) return slab;
    const current_device current(ordinal_);
    cudaIpcMemHandle_t handle{};
    KRYLITH_CUDA_CHECK(cudaIpcGetMemHandle(&handle, slab.begin));
    std::memcpy(slab.name.data(), &handle, sizeof handle);
    slab.id = ++last_id_;
    return slab;
}

std::vector<std::uint64_t> exported_slabs::withdrawn() {
    const std::scoped_lock lock(guard_);
    being_told_.insert(being_told_.end(), withdrawn_.begin(), withdrawn_.end());
    withdrawn_.clear();
    std::vector<std::uint64_t> ids;
    for (const exported_piece& one : being_told_) ids.push_back(one.id);
    return ids;
}

void exported_slabs::told() noexcept {
    const std::scoped_lock lock(guard_);
    free_all(told_);
    told_ = std::move(being_told_);
    being_told_.clear();
}

std::byte* exported_slabs::map(const exported_piece& piece) {
    if ((piece.id & posted_bit) != 0) return posted_slabs().map(piece);
    cudaIpcMemHandle_t handle{};
    std::memcpy(&handle, piece.name.data(), sizeof handle);
    const current_device current(ordinal_);
    void* mapped = nullptr;
    KRYLITH_CUDA_CHECK(cudaIpcOpenMemHandle(&mapped, handle, cudaIpcMemLazyEnablePeerAccess));
    return static_cast<std::byte*>(mapped);
}

void exported_slabs::unmap(std::byte* mapped, const exported_piece& piece) noexcept {
    if ((piece.id & posted_bit) != 0) return posted_slabs().unmap(mapped, piece);
    const current_device current(ordinal_);
    if (cudaIpcCloseMemHandle(mapped) != cudaSuccess) cudaGetLastError();
}

} // namespace krylith::cuda
