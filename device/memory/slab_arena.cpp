#include <krylith/device/memory/slab_arena.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace krylith {

namespace {

/// Slabs are multiples of this, the granularity of a GPU's page tables.
constexpr std::size_t slab_unit = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

} // namespace

slab_arena::slab_arena(slab_source source, slab_sizes sizes)
    : source_(std::move(source)), sizes_(sizes), looked_at_(sizes.deferred / 4) {}

slab_arena::~slab_arena() {
    for (const auto& [base, s] : slabs_) source_.release(reinterpret_cast<void*>(base));
}

void* slab_arena::allocate(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() - slab_unit) return nullptr;
    const std::size_t wanted = round_up(std::max<std::size_t>(bytes, 1), slab_alignment);
    const bool small = wanted <= sizes_.slab / 2;
    const std::lock_guard lock(lock_);
    // Where nothing may be left under running work, memory that was used comes before memory that
    // was not: its pages are there.
    if (sizes_.deferred == 0 && first_deferred_ != 0 && source_.wait()) undefer();
    // Freed memory that devices are done with is taken back while they rest: later this thread may
    // find another device at work, and wait for it.
    if (deferred_bytes_ > looked_at_) {
        looked_at_ = 2 * deferred_bytes_;
        if (source_.idle()) undefer();
    }
    if (void* found = take(wanted, small)) return found;
    if (deferred_bytes_ >= wanted &&
        (source_.idle() || (deferred_bytes_ > sizes_.deferred && source_.wait()))) {
        undefer();
        if (void* found = take(wanted, small)) return found;
    }
    const std::size_t own = round_up(wanted, slab_unit);
    if (void* found = grow(wanted, small ? sizes_.slab : own, small)) return found;
    // Memory is short: what was freed is waited for, and what is empty is given back.
    if (first_deferred_ != 0 && source_.wait()) undefer();
    for (const bool shared : {small, !small})
        if (void* found = take(wanted, shared)) return found;
    release_empty(0);
    return grow(wanted, own, small);
}

void slab_arena::deallocate(void* freed) noexcept {
    const std::lock_guard lock(lock_);
    const auto at = blocks_.find(reinterpret_cast<std::uintptr_t>(freed));
    if (at == blocks_.end() || at->second.is != state::used) return;
    at->second.is = state::deferred;
    at->second.next_deferred = first_deferred_;
    first_deferred_ = at->first;
    deferred_bytes_ += at->second.bytes;
    used_ -= at->second.bytes;
    slab& of = slabs_.find(at->second.slab)->second;
    of.used -= at->second.bytes;
    if (of.used != 0) return;
    empty_bytes_ += of.bytes;
    release_empty(sizes_.kept);
}

void slab_arena::trim() noexcept {
    const std::lock_guard lock(lock_);
    release_empty(0);
}

std::size_t slab_arena::reserved() const {
    const std::lock_guard lock(lock_);
    return reserved_;
}

std::size_t slab_arena::unused() const {
    const std::lock_guard lock(lock_);
    return reserved_ - used_;
}

slab_arena::by_size& slab_arena::free_of(const block& b) {
    return slabs_.find(b.slab)->second.shared ? free_shared_ : free_own_;
}

/// Returns the smallest free block that is large enough; null where there is none.
void* slab_arena::take(std::size_t bytes, bool shared) {
    by_size& free = shared ? free_shared_ : free_own_;
    const auto found = free.lower_bound({bytes, 0});
    if (found == free.end()) return nullptr;
    const auto at = blocks_.find(found->second);
    if (const std::size_t left = at->second.bytes - bytes; left != 0) {
        const std::uintptr_t rest = at->first + bytes;
        const auto added = blocks_.emplace(rest, block{left, state::free, at->second.slab}).first;
        try {
            free.emplace(left, rest);
        } catch (...) {
            blocks_.erase(added);
            throw;
        }
    }
    free.erase(found);
    at->second.bytes = bytes;
    mark_used(at);
    return reinterpret_cast<void*>(at->first);
}

void slab_arena::mark_used(place at) {
    at->second.is = state::used;
    slab& of = slabs_.find(at->second.slab)->second;
    if (of.used == 0) empty_bytes_ -= of.bytes;
    of.used += at->second.bytes;
    used_ += at->second.bytes;
}

void* slab_arena::grow(std::size_t bytes, std::size_t slab_bytes, bool shared) {
    void* const memory = source_.allocate(slab_bytes);
    if (memory == nullptr) return nullptr;
    const auto base = reinterpret_cast<std::uintptr_t>(memory);
    try {
        slabs_.emplace(base, slab{slab_bytes, shared, 0});
        const auto at = blocks_.emplace(base, block{slab_bytes, state::free, base}).first;
        free_of(at->second).emplace(slab_bytes, base);
    } catch (...) {
        blocks_.erase(base);
        slabs_.erase(base);
        source_.release(memory);
        throw;
    }
    reserved_ += slab_bytes;
    empty_bytes_ += slab_bytes;
    return take(bytes, shared);
}

/// Makes blocks free whose last users are done.
void slab_arena::undefer() {
    looked_at_ = sizes_.deferred / 4;
    while (first_deferred_ != 0) {
        const auto at = blocks_.find(first_deferred_);
        make_free(at); // the block stays deferred where this throws
    }
}

void slab_arena::make_free(place at) {
    const auto joins = [&](place other) {
        return other->second.is == state::free && other->second.slab == at->second.slab;
    };
    const std::uintptr_t next_deferred = at->second.next_deferred;
    const std::size_t bytes = at->second.bytes;
    const auto next = std::next(at);
    const bool join_next = next != blocks_.end() && joins(next);
    const bool join_before = at != blocks_.begin() && joins(std::prev(at));
    const auto begin = join_before ? std::prev(at) : at;
    std::size_t whole = bytes;
    if (join_next) whole += next->second.bytes;
    if (join_before) whole += begin->second.bytes;
    by_size& free = free_of(at->second);
    free.emplace(whole, begin->first);
    if (join_next) free.erase({next->second.bytes, next->first});
    if (join_before) free.erase({begin->second.bytes, begin->first});
    if (join_next) blocks_.erase(next);
    if (join_before) blocks_.erase(at);
    begin->second.bytes = whole;
    begin->second.is = state::free;
    first_deferred_ = next_deferred;
    deferred_bytes_ -= bytes;
}

void slab_arena::release(std::uintptr_t base) noexcept {
    const auto of = slabs_.find(base);
    std::uintptr_t* link = &first_deferred_;
    while (*link != 0) {
        block& b = blocks_.find(*link)->second;
        if (b.slab != base) {
            link = &b.next_deferred;
            continue;
        }
        *link = b.next_deferred;
        deferred_bytes_ -= b.bytes;
    }
    for (auto at = blocks_.find(base); at != blocks_.end() && at->second.slab == base;) {
        if (at->second.is == state::free) free_of(at->second).erase({at->second.bytes, at->first});
        at = blocks_.erase(at);
    }
    reserved_ -= of->second.bytes;
    empty_bytes_ -= of->second.bytes;
    slabs_.erase(of);
    source_.release(reinterpret_cast<void*>(base));
}

/// Releases slabs without a block in use, the largest first, until `kept` bytes of them are left.
void slab_arena::release_empty(std::size_t kept) noexcept {
    while (empty_bytes_ > kept) {
        auto largest = slabs_.end();
        for (auto s = slabs_.begin(); s != slabs_.end(); ++s)
            if (s->second.used == 0 &&
                (largest == slabs_.end() || s->second.bytes > largest->second.bytes))
                largest = s;
        release(largest->first);
    }
}

} // namespace krylith
