#include <krylith/device/cuda/posted_memory.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include <krylith/device/cuda/cuda_check.cuh>

namespace krylith::cuda {

namespace {

constexpr std::size_t cache_line = 128;
constexpr std::size_t piece = std::size_t{256} << 10;

/// Blocks of powers of two, which are never joined: there are few kinds.
class posted_blocks {
public:
    [[nodiscard]] void* take(int ordinal, std::size_t bytes) {
        const std::size_t size = std::bit_ceil(std::max(bytes, cache_line));
        const std::lock_guard lock(guard_);
        std::vector<std::byte*>& idle = idle_[size];
        if (idle.empty()) idle.push_back(cut(ordinal, size));
        std::byte* const block = idle.back();
        sizes_.emplace(block, size);
        idle.pop_back();
        std::memset(block, 0, size);
        return block;
    }

    void put(std::byte* block) noexcept {
        const std::lock_guard lock(guard_);
        const auto found = sizes_.find(block);
        if (found == sizes_.end()) return;
        try {
            idle_[found->second].push_back(block);
        } catch (const std::bad_alloc&) { // the block is lost
        }
        sizes_.erase(found);
    }

    [[nodiscard]] static posted_blocks& all() {
        static auto* const blocks = new posted_blocks; // CUDA may end before statics do
        return *blocks;
    }

private:
    /// Cuts a block from the piece that is left, or from a new one.
    std::byte* cut(int ordinal, std::size_t size) {
        if (left_ < size) {
            const std::size_t whole = std::max(size, piece);
            const current_device current(ordinal);
            void* const memory = make_piece(whole);
            next_ = static_cast<std::byte*>(memory);
            left_ = whole;
        }
        std::byte* const block = next_;
        next_ += size;
        left_ -= size;
        return block;
    }

    static void* make_piece(std::size_t bytes) {
        void* memory = posted_slabs().begun() ? posted_slabs().allocate(bytes) : nullptr;
        constexpr unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
        if (memory != nullptr && cudaHostRegister(memory, bytes, flags) == cudaSuccess)
            return memory;
        cudaGetLastError();
        if (memory != nullptr) posted_slabs().release(memory);
        KRYLITH_CUDA_CHECK(
            cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
        return memory;
    }

    std::mutex guard_;
    std::map<std::size_t, std::vector<std::byte*>> idle_; ///< by size
    std::unordered_map<std::byte*, std::size_t> sizes_;   ///< of blocks in use
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

} // namespace

shared_slabs& posted_slabs() {
    static auto* const slabs = [] {
        auto* const made = new shared_slabs; // CUDA may end before statics do
        try {
            made->begin();
        } catch (const device_error&) { // NOLINT(bugprone-empty-catch): then nobody maps it
        }
        return made;
    }();
    return *slabs;
}

void* allocate_posted_memory(int ordinal, std::size_t bytes) {
    return posted_blocks::all().take(ordinal, bytes);
}

void free_posted_memory(void* memory) noexcept {
    posted_blocks::all().put(static_cast<std::byte*>(memory));
}

} // namespace krylith::cuda
