#include <krylith/distributed/source/local_columns.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace krylith {

local_columns::local_columns(const std::shared_ptr<device>& device, row_range owned,
                             std::vector<std::int32_t> ghosts)
    : local_columns(owned, std::move(ghosts), {}) {
    if (ghosts_ == nullptr) return;
    resident_ = std::make_shared<const buffer<std::int32_t>>(
        device, std::span<const std::int32_t>(*ghosts_), "ghost columns");
}

local_columns::local_columns(row_range owned, std::vector<std::int32_t> ghosts,
                             buffer<std::int32_t> resident)
    : owned_(owned),
      below_(std::lower_bound(ghosts.begin(), ghosts.end(), owned.begin) - ghosts.begin()) {
    if (ghosts.empty()) return;
    resident_ = std::make_shared<const buffer<std::int32_t>>(std::move(resident));
    ghosts_ = std::make_shared<const std::vector<std::int32_t>>(std::move(ghosts));
}

const std::vector<std::int32_t>& local_columns::ghosts() const noexcept {
    static const std::vector<std::int32_t> none;
    return ghosts_ != nullptr ? *ghosts_ : none;
}

column_numbers local_columns::numbers() const noexcept {
    return {owned_.begin, static_cast<std::int32_t>(below_),
            static_cast<std::int32_t>(owned_.size()), static_cast<std::int32_t>(ghosts().size()),
            resident_ != nullptr ? resident_->data() : nullptr};
}

} // namespace krylith
