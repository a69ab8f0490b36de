// Arrays on the devices of a layout, with entries around them that must not be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::testing {

/// Arrays with `offset` entries before and more behind, which must not be written.
template <class T>
class guarded_arrays {
public:
    guarded_arrays(const layout_handle& layout, std::int64_t offset) : offset_(offset) {
        for (int rank = 0; rank < layout->comm.ranks(); ++rank) {
            const auto size = static_cast<std::size_t>(layout->held(rank) + offset + zone);
            const std::vector<T> pattern(size, T(77));
            arrays_.emplace_back(layout->comm.handle(rank), std::span<const T>(pattern), "test");
            parts_.push_back(arrays_.back().data() + offset);
        }
    }
    [[nodiscard]] const std::vector<T*>& parts() const { return parts_; }
    [[nodiscard]] bool untouched() const {
        for (const auto& array : arrays_) {
            const auto all = array.download();
            for (std::size_t i = 0; i < all.size(); ++i)
                if ((i < static_cast<std::size_t>(offset_) || i + zone >= all.size()) &&
                    all[i] != T(77))
                    return false;
        }
        return true;
    }

private:
    static constexpr std::size_t zone = 16;
    std::int64_t offset_;
    std::vector<buffer<T>> arrays_;
    std::vector<T*> parts_;
};

} // namespace krylith::testing
