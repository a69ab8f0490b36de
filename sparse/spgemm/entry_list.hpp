// What a thread finds of the entries of a product on the host, before anybody knows how many they
// are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <krylith/device/host/host_memory.hpp>

namespace krylith::host {

/// Columns or values of many rows, one after the other, in memory that grows without being cleared.
template <class V>
class entry_list {
public:
    entry_list() = default;
    /// There are never more than `most` entries. The first `room` of them have memory of the
    /// caller, which was in use before: new pages cost more than what is written to them.
    entry_list(std::size_t most, V* there, std::size_t room)
        : data_(there), capacity_(room), most_(most), peak_(room) {}

    /// Makes room for `more` entries; `done` is the part of the work that is done, from 0 to 1.
    void make_room(std::size_t more, double done) {
        if (size_ + more <= capacity_) return;
        const double whole = done > 0 ? 1.05 * static_cast<double>(size_) / done : 0;
        const std::size_t expected = std::min(static_cast<std::size_t>(whole), 16 * size_);
        const std::size_t wanted =
            std::max(size_ + more, std::min(most_, std::max({expected, 2 * size_, least})));
        memory larger(static_cast<V*>(allocate_host_memory(wanted * sizeof(V))));
        if (larger == nullptr) throw std::bad_alloc();
        std::copy_n(data_, size_, larger.get());
        own_ = std::move(larger);
        data_ = own_.get();
        peak_ = std::max(peak_, capacity_ + wanted);
        capacity_ = wanted;
    }

    [[nodiscard]] V* end() noexcept { return data_ + size_; }
    void grow_to(const V* end) noexcept { size_ = static_cast<std::size_t>(end - data_); }
    void grow_by(std::size_t more) noexcept { size_ += more; }
    [[nodiscard]] const V* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The most bytes that it had at once.
    [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_ * sizeof(V); }

private:
    struct frees {
        void operator()(V* list) const noexcept { free_host_memory(list); }
    };
    using memory = std::unique_ptr<V[], frees>; ///< on huge pages where it is long

    static constexpr std::size_t least = 4096;
    V* data_ = nullptr;
    memory own_; ///< null where the caller's is enough
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::size_t most_ = 0;
    std::size_t peak_ = 0;
};

using column_list = entry_list<std::int32_t>;

} // namespace krylith::host
