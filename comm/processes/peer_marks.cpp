#include <krylith/comm/processes/peer_marks.hpp>

#include <utility>

namespace krylith {

peer_marks::peer_marks(const device_group& devices, int first, int ranks, double timeout_seconds,
                       mark_words words)
    : devices_(devices),
      first_(first),
      timeout_seconds_(timeout_seconds),
      words_(std::move(words)) {
    for (int k = 0; k < devices_.size(); ++k) {
        marks_.emplace_back(devices_.handle(k), static_cast<std::size_t>(ranks), "marks");
        marks_.back().zero();
    }
    devices_.synchronize(); // they are 0 before others set them
}

void peer_marks::set(int before, int after, std::uint64_t count) const {
    devices_[before - first_].set_mark(reached_[static_cast<std::size_t>(after)] + before, count);
}

void peer_marks::await(int before, int after, std::uint64_t count) const {
    devices_[after - first_].await_mark(
        {of(after) + before, count, before, timeout_seconds_, words_});
}

} // namespace krylith
