#include <krylith/comm/communicator.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/comm/ranks/shared_ranks.hpp>
#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>

namespace krylith {

communicator::communicator(device_group devices) : devices_(std::move(devices)) {}

bool communicator::ranks_like(const communicator& other) const noexcept {
    return shared_ == other.shared_ || shared_->numbers == other.shared_->numbers;
}

int communicator::first_local() const {
    if (devices_.size() == 0)
        throw usage_error("this driver has none of the ranks of the communicator, and was asked "
                          "for what one of them has");
    return first_;
}

std::span<const int> communicator::local() const noexcept {
    static constexpr auto all = [] {
        std::array<int, max_ranks> ranks{};
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }();
    return std::span(all).subspan(static_cast<std::size_t>(first_),
                                  static_cast<std::size_t>(devices_.size()));
}

int communicator::ranks() const noexcept {
    return shared_ ? shared_->ranks() : devices_.size();
}

void communicator::require_one_driver(const std::string& who) const {
    if (shared_)
        throw usage_error(who + " needs all devices in one thread, and this communicator has " +
                          std::to_string(agreement_->drivers()) + " drivers");
}

std::string communicator::description(int rank) const {
    if (!shared_) return devices_[rank].description();
    const auto& text = shared_->descriptions.at(static_cast<std::size_t>(rank));
    return {text.begin(), text.end()};
}

peer_path communicator::path(int from, int to) const noexcept {
    return shared_ ? shared_->paths[static_cast<std::size_t>(from * ranks() + to)]
                   : devices_.path(from, to);
}

const std::string& communicator::serialised_because() const noexcept {
    return shared_ ? shared_->serialised_because : devices_.serialised_because();
}

const std::uint32_t* communicator::launching() const noexcept {
    if (!agreement_) return devices_.launching();
    if (shared_->posted) return devices_.launching();
    return concurrent() && kind() == backend::cuda ? agreement_->launching() : nullptr;
}

int communicator::driver_of(int rank) const {
    const auto after = std::ranges::upper_bound(shared_->begin, rank);
    return static_cast<int>(after - shared_->begin.begin()) - 1;
}

message_carrier* communicator::carrier() const noexcept {
    return shared_ && shared_->any_posted ? agreement_->carrier() : nullptr;
}

void communicator::launch_together(const std::function<void()>& launches) const {
    // The hosts of several machines have met before, and what they carry can't wait for the others.
    if (!shared_ || shared_->posted) return devices_.launch_together(launches);
    agreement_->launch_together(launches);
}

void communicator::synchronize_all() const {
    synchronize();
    if (agreement_) agreement_->meet();
}

void communicator::copy(int from, const void* source, int to, void* target,
                        std::size_t bytes) const {
    if (is_local(to)) return devices_.copy(from - first_, source, to - first_, target, bytes);
    if (bytes == 0) return;
    device& sender = (*this)[from];
#if KRYLITH_HAVE_CUDA
    if (kind() == backend::cuda)
        return cuda::copy_across(sender, source, shared_->ordinals[static_cast<std::size_t>(to)],
                                 target, bytes);
#endif
    static_cast<host_device&>(sender).submit([=] { std::memcpy(target, source, bytes); });
}

void communicator::carry(std::span<const carried_bytes> moves) const {
    if (!shared_) return;
    std::vector<std::vector<std::byte>> given(static_cast<std::size_t>(drivers()));
    for (const carried_bytes& move : moves) {
        if (!is_local(move.from)) continue;
        auto& bytes = given[static_cast<std::size_t>(driver_of(move.to))];
        const std::size_t first = bytes.size();
        bytes.resize(first + move.bytes);
        if (move.bytes != 0)
            (*this)[move.from].download(bytes.data() + first, move.source, move.bytes);
    }
    const auto received = agreement_->all_to_all(std::move(given));
    std::vector<std::size_t> next(received.size(), 0);
    for (const carried_bytes& move : moves) {
        if (!is_local(move.to)) continue;
        const auto driver = static_cast<std::size_t>(driver_of(move.from));
        const std::size_t first = std::exchange(next[driver], next[driver] + move.bytes);
        agreement::check_step(next[driver] <= received[driver].size());
        if (move.bytes != 0)
            (*this)[move.to].upload(move.target, received[driver].data() + first, move.bytes);
    }
}

bool communicator::any(bool here) const {
    if (!shared_) return here;
    const auto word = static_cast<std::byte>(here);
    const auto all = agreement_->all_gather(collective_step::answer, {&word, 1});
    return std::ranges::any_of(
        all, [](const auto& of_driver) { return of_driver.front() != std::byte{0}; });
}

/// addresses() where there are several drivers.
void communicator::reach(std::vector<std::byte*>& addresses) const {
    const auto own = std::as_writable_bytes(std::span(addresses));
    if (shared_->posted) {
        for (int rank = 0; rank < ranks(); ++rank)
            if (!is_local(rank)) addresses[static_cast<std::size_t>(rank)] = nullptr;
        return;
    }
    if (processes_ == nullptr)
        return gather_items(collective_step::addresses, own, sizeof(std::byte*));
    processes_->mappings.reach(addresses, shared_->numbers, [&](std::span<const std::byte> told) {
        return agreement_->all_gather(collective_step::addresses, told);
    });
}

void communicator::gather_items(collective_step step, std::span<std::byte> by_rank,
                                std::size_t size) const {
    const auto own = by_rank.subspan(static_cast<std::size_t>(first_) * size,
                                     static_cast<std::size_t>(devices_.size()) * size);
    const auto all = agreement_->all_gather(step, own);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto first = static_cast<std::size_t>(shared_->begin[k]) * size;
        const auto end = static_cast<std::size_t>(shared_->begin[k + 1]) * size;
        agreement::check_step(all[k].size() == end - first);
        std::ranges::copy(all[k], by_rank.begin() + static_cast<std::ptrdiff_t>(first));
    }
}

void communicator::settle() const noexcept {
    if (agreement_) return agreement_->settle();
    try {
        devices_.synchronize();
    } catch (...) { // the first failure is under way
    }
}

std::shared_ptr<const void> communicator::when_restored(std::function<void()> restore) const {
    return agreement_ ? agreement_->when_restored(std::move(restore))
                      : devices_.when_restored(std::move(restore));
}

void communicator::note_failure() const noexcept {
    agreement_ ? agreement_->note_failure() : devices_.note_failure();
}

void communicator::restore() const {
    agreement_ ? agreement_->restore() : devices_.restore();
}

} // namespace krylith
