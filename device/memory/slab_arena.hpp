// Memory of a device in slabs, so that most allocations need no call of the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace krylith {

/// What an arena asks of the runtime of its device. The functions may not use the arena.
struct slab_source {
    /// Returns a slab aligned to at least slab_alignment; null where there is no memory.
    std::function<void*(std::size_t bytes)> allocate;
    /// Frees a slab after all work that was given to its device so far.
    std::function<void(void* slab)> release;
    /// Whether all work that may still use freed blocks is done, without waiting for it.
    std::function<bool()> idle;
    /// Waits for that work. Returns false where that can't be done now.
    std::function<bool()> wait;
};

struct slab_sizes {
    /// Blocks up to half of this share slabs of this size; larger ones get a slab of their own.
    std::size_t slab = std::size_t{32} << 20;
    /// Slabs without a block in use are kept up to so many bytes together.
    std::size_t kept = std::size_t{1} << 30;
    /// Where more bytes than these were freed under running work, an allocation waits for it
    /// rather than take more memory.
    std::size_t deferred = std::size_t{256} << 20;
};

inline constexpr std::size_t slab_alignment = 512;

/// Divides slabs into blocks. A block that is freed may still be in use by work that devices have
/// been given; so it is handed out again only once that work is done, and freeing never waits,
/// except where a slab is given back. The smallest block that fits is taken, and neighbours that
/// are free become one. Small blocks stay out of the slabs of large ones as long as there is
/// memory, so that these stay whole. Thread-safe. All blocks must be freed before the arena goes.
class slab_arena {
public:
    explicit slab_arena(slab_source source, slab_sizes sizes = {});
    slab_arena(const slab_arena&) = delete;
    slab_arena& operator=(const slab_arena&) = delete;
    ~slab_arena(); ///< releases all slabs

    /// Returns a block aligned to slab_alignment, null where there is no memory. O(log blocks).
    [[nodiscard]] void* allocate(std::size_t bytes);
    /// Takes back a block of this arena. O(log blocks), unless slabs are released.
    void deallocate(void* block) noexcept;
    /// Releases all slabs without a block in use, as when another library needs their memory.
    void trim() noexcept;

    [[nodiscard]] std::size_t reserved() const; ///< the bytes of all slabs
    [[nodiscard]] std::size_t unused() const;   ///< those of them that no block in use has

private:
    enum class state { used, deferred, free };
    struct slab {
        std::size_t bytes = 0;
        bool shared = false;  ///< whether it is for small blocks
        std::size_t used = 0; ///< bytes of blocks in use
    };
    using by_size = std::set<std::pair<std::size_t, std::uintptr_t>>;
    struct block {
        std::size_t bytes;
        state is;
        std::uintptr_t slab;
        std::uintptr_t next_deferred = 0;
    };
    using place = std::map<std::uintptr_t, block>::iterator;

    [[nodiscard]] void* take(std::size_t bytes, bool shared);
    [[nodiscard]] void* grow(std::size_t bytes, std::size_t slab_bytes, bool shared);
    [[nodiscard]] by_size& free_of(const block& b);
    void mark_used(place at);
    void undefer();
    void make_free(place at);
    void release(std::uintptr_t base) noexcept;
    void release_empty(std::size_t kept) noexcept;

    slab_source source_;
    slab_sizes sizes_;
    mutable std::mutex lock_;
    std::map<std::uintptr_t, slab> slabs_;   ///< by address
    std::map<std::uintptr_t, block> blocks_; ///< by address; they fill the slabs
    by_size free_shared_;                    ///< free blocks of slabs for small blocks
    by_size free_own_;                       ///< free blocks of other slabs
    std::uintptr_t first_deferred_ = 0;
    std::size_t deferred_bytes_ = 0;
    std::size_t looked_at_; ///< where more are deferred, allocate() looks whether devices rest
    std::size_t empty_bytes_ = 0; ///< of slabs without a block in use
    std::size_t reserved_ = 0;
    std::size_t used_ = 0;
};

} // namespace krylith
