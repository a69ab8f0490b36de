#include <krylith/device/host/host_arena.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <thread>

#include <unistd.h>

#include <krylith/device/host/host_memory.hpp>
#include <krylith/device/memory/memory_room.hpp>
#include <krylith/device/memory/slabs_wanted.hpp>
#include <krylith/device/numa.hpp>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KRYLITH_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define KRYLITH_ADDRESS_SANITIZER
#endif

namespace krylith {

namespace {

#ifdef KRYLITH_ADDRESS_SANITIZER
constexpr bool every_access_is_checked = true;
#else
constexpr bool every_access_is_checked = false;
#endif

bool one_node() {
    static const bool one = read_numa_topology("/sys", {}).nodes.size() == 1;
    return one;
}

std::size_t machine_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                                 : 0;
}

/// The slabs, whose sizes munmap wants to know.
class mapped_slabs {
public:
    void* allocate(std::size_t bytes) {
        // The system promises memory that it has not got: asking first fails here, not at the use.
        if (bytes > find_memory_room().bytes) return nullptr;
        void* const slab = map_host_memory(bytes);
        if (slab == nullptr) return nullptr;
        try {
            bytes_.emplace(slab, bytes);
        } catch (...) {
            unmap_host_memory(slab, bytes);
            throw;
        }
        return slab;
    }

    void release(void* slab) noexcept {
        const auto found = bytes_.find(slab);
        unmap_host_memory(slab, found->second);
        bytes_.erase(found);
    }

private:
    std::map<void*, std::size_t> bytes_;
};

/// Slabs without a block in use are kept up to `kept` bytes. A device frees a block by a task after
/// those that use it, so that none is in use here.
template <class Slabs>
std::unique_ptr<slab_arena> arena_of(Slabs slabs, std::size_t kept) {
    slab_sizes sizes;
    sizes.deferred = 0;
    sizes.kept = kept;
    return std::make_unique<slab_arena>(
        slab_source{[slabs](std::size_t bytes) { return slabs->allocate(bytes); },
                    [slabs](void* slab) { slabs->release(slab); }, [] { return true; },
                    [] { return true; }},
        sizes);
}

/// The device's share of 1/16 of the machine's memory.
std::size_t share_of(int threads) {
    const auto processors = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    return machine_bytes() / 16 / processors *
           std::min(processors, static_cast<std::size_t>(threads));
}

} // namespace

std::unique_ptr<slab_arena> make_host_arena(int threads) {
    if (!slabs_wanted() || every_access_is_checked || !one_node()) return nullptr;
    return arena_of(std::make_shared<mapped_slabs>(), share_of(threads));
}

std::unique_ptr<slab_arena> make_host_arena(int threads, shared_slabs& slabs) {
    return arena_of(&slabs, one_node() ? share_of(threads) : 0);
}

} // namespace krylith
