#include <numeric>
#include <utility>

#include <krylith/device/loops/visit_rows.hpp>

namespace krylith {

namespace {

constexpr const char* list_item = "lists of rows";
constexpr std::size_t counters = 256; ///< of a CUDA device, until they are cleared again

} // namespace

row_list::row_list(std::shared_ptr<device> device, std::int64_t rows)
    : device_(std::move(device)), rows_(rows) {
    const bool on_host = device_->kind() == backend::host;
    for (int i = 0; i < (on_host ? 1 : 2); ++i)
        lists_[i] = {device_, static_cast<std::size_t>(rows), list_item};
    const std::size_t threads =
        on_host ? static_cast<std::size_t>(static_cast<host_device&>(*device_).threads()) : 0;
    counts_ = {device_, on_host ? threads : counters, list_item};
    counts_.zero();
}

std::int64_t row_list::size() const {
    if (step_ == 0) return rows_;
    if (device_->kind() == backend::host) {
        const auto found = counts_.download();
        return std::accumulate(found.begin(), found.end(), std::int64_t{0});
    }
    std::uint32_t found = 0;
    device_->download(&found, counts_.data() + step_ % counters, sizeof found);
    return found;
}

void row_list::restart() {
    step_ = 0;
    counts_.zero();
}

list_step row_list::next() {
    list_step list;
    const std::size_t step = step_++;
    if (device_->kind() == backend::host) {
        list.rows = step == 0 ? nullptr : lists_[0].data();
        list.stay = lists_[0].data();
        list.count = counts_.data();
        list.stay_count = counts_.data();
        return list;
    }
    // A counter is cleared half a ring before it is used again.
    if (step != 0 && step % (counters / 2) == 0)
        device_->zero(counts_.data() + (step + counters / 2) % counters,
                      counters / 2 * sizeof(std::uint32_t));
    list.rows = step == 0 ? nullptr : lists_[step % 2].data();
    list.count = counts_.data() + step % counters;
    list.stay = lists_[(step + 1) % 2].data();
    list.stay_count = counts_.data() + (step + 1) % counters;
    return list;
}

} // namespace krylith
