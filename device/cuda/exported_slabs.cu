#include <krylith/device/cuda/exported_slabs.cuh>

#include <cstring>
#include <type_traits>

#include <cuda.h>
#include <unistd.h>

#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/cuda/posted_memory.hpp>
#include <krylith/device/host/shared_slabs.hpp>

namespace krylith::cuda {

namespace {

/// Ids of posted memory have this bit.
constexpr std::uint64_t posted_bit = std::uint64_t{1} << 63;

void free_now(int ordinal, void* memory) {
    const current_device current(ordinal);
    if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

/// cuMemGetAddressRange(), which the runtime has no function for.
auto find_address_range() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    KRYLITH_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function, 12000,
                                                        cudaEnableDefault, &found));
    if (function == nullptr) throw device_error("CUDA's driver has no cuMemGetAddressRange");
    return reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t*, CUdeviceptr)>(function);
}

/// What names a piece to another process.
struct ipc_name {
    cudaIpcMemHandle_t handle;
};
static_assert(sizeof(ipc_name) == sizeof(exported_piece::name));

} // namespace

exported_slabs::~exported_slabs() {
    for (const auto* const list : {&withdrawn_, &being_told_, &told_})
        for (const given_back& one : *list) free_now(ordinal_, one.memory);
}

void exported_slabs::free(void* memory) noexcept {
    {
        const std::scoped_lock lock(guard_);
        const auto found = exported_.find(memory);
        if (found != exported_.end()) {
            const std::uint64_t id = found->second.id;
            exported_.erase(found);
            try {
                withdrawn_.push_back({id, memory});
                return;
            } catch (...) { // it is freed under the others, rather than never
            }
        }
    }
    free_now(ordinal_, memory);
}

exported_piece exported_slabs::piece_of(const void* memory) {
    if (shared_slabs& posted = posted_slabs(); posted.has(memory)) {
        exported_piece piece = posted.piece_of(memory);
        piece.id |= posted_bit;
        return piece;
    }
    static const auto address_range = find_address_range();
    const current_device current(ordinal_);
    CUdeviceptr first = 0;
    std::size_t bytes = 0;
    if (address_range(&first, &bytes, reinterpret_cast<CUdeviceptr>(memory)) != CUDA_SUCCESS)
        return {};
    const std::scoped_lock lock(guard_);
    exported_piece& piece = exported_[reinterpret_cast<void*>(first)];
    if (piece.id != 0) return piece;
    ipc_name name{};
    if (cudaIpcGetMemHandle(&name.handle, reinterpret_cast<void*>(first)) != cudaSuccess) {
        cudaGetLastError(); // memory of a pool, or managed
        exported_.erase(reinterpret_cast<void*>(first));
        return {};
    }
    piece = {++last_id_, reinterpret_cast<std::byte*>(first), bytes, {}};
    std::memcpy(piece.name.data(), &name, sizeof name);
    return piece;
}

std::vector<std::uint64_t> exported_slabs::withdrawn() {
    const std::scoped_lock lock(guard_);
    being_told_.insert(being_told_.end(), withdrawn_.begin(), withdrawn_.end());
    withdrawn_.clear();
    std::vector<std::uint64_t> ids;
    for (const given_back& one : being_told_) ids.push_back(one.id);
    return ids;
}

void exported_slabs::told() noexcept {
    const std::scoped_lock lock(guard_);
    for (const given_back& one : told_) free_now(ordinal_, one.memory);
    told_ = std::move(being_told_);
    being_told_.clear();
}

std::byte* exported_slabs::map(const exported_piece& piece) {
    if ((piece.id & posted_bit) != 0) return posted_slabs().map(piece);
    ipc_name name{};
    std::memcpy(&name, piece.name.data(), sizeof name);
    const current_device current(ordinal_);
    void* mapped = nullptr;
    KRYLITH_CUDA_CHECK(cudaIpcOpenMemHandle(&mapped, name.handle, cudaIpcMemLazyEnablePeerAccess));
    return static_cast<std::byte*>(mapped);
}

void exported_slabs::unmap(std::byte* mapped, std::uint64_t bytes) noexcept {
    const current_device current(ordinal_);
    if (cudaIpcCloseMemHandle(mapped) == cudaSuccess) return;
    cudaGetLastError();
    posted_slabs().unmap(mapped, bytes);
}

} // namespace krylith::cuda
