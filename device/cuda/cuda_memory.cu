#include <krylith/device/cuda/cuda_memory.cuh>

#include <string>
#include <utility>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/pinned_ring.cuh>
#include <krylith/device/memory/slabs_wanted.hpp>

namespace krylith::cuda {

std::unique_ptr<slab_arena> make_arena(int ordinal, std::shared_ptr<group_streams> streams,
                                       exported_slabs& exported) {
    if (!slabs_wanted()) return nullptr;
    const current_device current(ordinal);
    std::size_t available = 0;
    std::size_t total = 0;
    KRYLITH_CUDA_CHECK(cudaMemGetInfo(&available, &total));
    slab_sizes sizes;
    sizes.kept = total / 8;
    return std::make_unique<slab_arena>(
        slab_source{[&exported](std::size_t bytes) { return exported.allocate(bytes); },
                    [&exported](void* slab) { exported.free(slab); },
                    [=] { return streams->idle(); }, [=] { return streams->wait(); }},
        sizes);
}

std::size_t cuda_device::free_bytes() const {
    const current_device current(ordinal_);
    std::size_t available = 0;
    std::size_t total = 0;
    KRYLITH_CUDA_CHECK(cudaMemGetInfo(&available, &total));
    return available + (arena_ != nullptr ? arena_->unused() : 0);
}

void* cuda_device::allocate(std::size_t bytes, const std::string& item) {
    const current_device current(ordinal_);
    void* const pointer = arena_ != nullptr ? arena_->allocate(bytes) : exported_.allocate(bytes);
    if (pointer == nullptr && bytes != 0) {
        std::size_t available = 0;
        std::size_t total = 0;
        cudaMemGetInfo(&available, &total);
        throw memory_error("cuda:" + std::to_string(ordinal_) + " can't give " +
                           std::to_string(bytes) + " bytes for " + item + ": out of memory; " +
                           std::to_string(available) + " of " + std::to_string(total) +
                           " bytes are free");
    }
    try {
        ledger().add(item, bytes);
    } catch (...) {
        give_back(pointer);
        throw;
    }
    return pointer;
}

void cuda_device::deallocate(void* pointer, std::size_t bytes, const std::string& item) noexcept {
    give_back(pointer);
    ledger().remove(item, bytes);
}

void cuda_device::give_back(void* pointer) noexcept {
    if (arena_ != nullptr)
        arena_->deallocate(pointer);
    else
        exported_.free(pointer);
}

} // namespace krylith::cuda
