#include <krylith/comm/communicator.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <numeric>
#include <set>

#include <krylith/comm/agreement/failure_words.hpp>
#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/threads/restorers.hpp>

namespace krylith {

namespace {

/// What a driver says with the bytes that it gives.
enum class message : unsigned char {
    value,   ///< these are what was asked for
    failed,  ///< something has failed here
    settled, ///< the devices of this driver are idle
    words    ///< the failure
};

/// Thrown by a driver's collective functions where another one has failed, for together() to
/// replace.
class failed_elsewhere : public communication_error {
public:
    failed_elsewhere() : communication_error("another driver of the communicator has failed") {}
};

} // namespace

struct communicator::shared_ranks {
    std::shared_ptr<driver_link> drivers;
    std::vector<int> begin;       ///< [drivers + 1] the first rank of each
    std::vector<peer_path> paths; ///< [from * ranks + to]
    std::vector<int> ordinals;
    std::vector<std::vector<char>> descriptions;
    std::string serialised_because;
    std::unique_ptr<std::uint32_t, std::function<void(std::uint32_t*)>> launching; ///< or null
    krylith::restorers restorers;

    // Of the calls under way.
    int depth = 0;             ///< of together()
    bool settled = false;      ///< a failure is under way, and no device works any more
    bool unwinding = false;    ///< drivers have agreed on a failure, which is on its way outwards
    bool gone = false;         ///< a driver has ended, or did not answer
    bool broken = false;       ///< words are to be restored
    std::exception_ptr agreed; ///< what all drivers have thrown last
    std::vector<std::shared_ptr<event>> kept; ///< until the others have waited for them

    [[nodiscard]] int ranks() const { return begin.back(); }
    void say_launching(std::uint32_t value) {
        if (launching) std::atomic_ref(*launching).store(value, std::memory_order_release);
    }
    /// Kernels that wait give up once this word is 0, so it comes before any wait for them.
    void end_launches() { say_launching(0); }
    std::vector<std::vector<std::byte>> say(message kind, std::span<const std::byte> bytes = {}) {
        std::vector<std::byte> given(1 + bytes.size());
        given.front() = static_cast<std::byte>(kind);
        std::ranges::copy(bytes, given.begin() + 1);
        try {
            auto all = drivers->all_gather(given);
            kept.clear();
            if (kind == message::value) unwinding = false;
            return all;
        } catch (...) {
            gone = true;
            throw;
        }
    }
};

namespace {

/// The bytes that drivers have given, without what kind of message they are.
std::vector<std::vector<std::byte>> without_kinds(const std::vector<std::vector<std::byte>>& all) {
    std::vector<std::vector<std::byte>> bytes;
    for (const auto& one : all) bytes.emplace_back(one.begin() + 1, one.end());
    return bytes;
}

bool any_failed(const std::vector<std::vector<std::byte>>& all) {
    return std::ranges::any_of(
        all, [](const auto& one) { return static_cast<message>(one.front()) != message::value; });
}

} // namespace

communicator::communicator(device_group devices) : devices_(std::move(devices)) {}

communicator::communicator(device_group devices, std::shared_ptr<driver_link> drivers)
    : devices_(std::move(devices)) {
    if (drivers->drivers() == 1) return;
    shared_ = std::make_shared<shared_ranks>();
    shared_ranks& s = *shared_;
    s.drivers = std::move(drivers);
    number_ranks();
    s.ordinals = by_rank(*this, [&](int rank) { return (*this)[rank].ordinal(); });
    s.descriptions = by_rank(*this, [&](int rank) {
        const std::string text = (*this)[rank].description();
        return std::vector<char>(text.begin(), text.end());
    });
    all_gather(s.ordinals);
    all_gather_lists(s.descriptions);
    find_paths();
#if KRYLITH_HAVE_CUDA
    if (kind() == backend::cuda && s.serialised_because.empty()) {
        const auto& any = devices_.handle(0);
        s.launching = {
            static_cast<std::uint32_t*>(cuda::allocate_post(*any, sizeof(std::uint32_t))),
            [any](std::uint32_t* word) { cuda::free_post(*any, word); }};
    }
#endif
}

/// Finds out who has which ranks.
void communicator::number_ranks() {
    struct of_driver {
        int size;
        backend kind;
        bool concurrent;
    };
    shared_ranks& s = *shared_;
    const of_driver own{devices_.size(), devices_.kind(), devices_.concurrent()};
    s.begin = {0};
    for (const auto& bytes : gather_bytes(std::as_bytes(std::span(&own, 1)))) {
        of_driver group{};
        std::memcpy(&group, bytes.data(), sizeof group);
        if (group.kind != own.kind)
            throw usage_error("the drivers of a communicator have groups of different kinds");
        if (!group.concurrent)
            s.serialised_because = devices_.concurrent() ? "a driver's devices can't run at once"
                                                         : devices_.serialised_because();
        s.begin.push_back(s.begin.back() + group.size);
    }
    first_ = s.begin[static_cast<std::size_t>(s.drivers->driver())];
    const int most = kind() == backend::cuda ? max_gpus : max_ranks;
    if (s.ranks() > most)
        throw usage_error("a communicator has 1 to " + std::to_string(most) + " ranks, not " +
                          std::to_string(s.ranks()));
}

/// The path from a local rank to any other.
peer_path communicator::path_from(int from, int to) const {
    if (is_local(to)) return devices_.path(from - first_, to - first_);
#if KRYLITH_HAVE_CUDA
    const std::vector<int>& ordinals = shared_->ordinals;
    if (kind() == backend::cuda &&
        !cuda::enable_peer_access(ordinals[static_cast<std::size_t>(from)],
                                  ordinals[static_cast<std::size_t>(to)]))
        return peer_path::staged;
#endif
    return peer_path::direct;
}

void communicator::find_paths() {
    shared_ranks& s = *shared_;
    auto rows = by_rank(*this, [&](int from) {
        std::vector<peer_path> row;
        for (int to = 0; to < s.ranks(); ++to) row.push_back(path_from(from, to));
        return row;
    });
    all_gather_lists(rows);
    for (const auto& row : rows) s.paths.insert(s.paths.end(), row.begin(), row.end());
    if (s.serialised_because.empty() && std::ranges::count(s.paths, peer_path::staged) != 0)
        s.serialised_because = "devices of different drivers have no peer access";
    if (kind() == backend::cuda &&
        std::set(s.ordinals.begin(), s.ordinals.end()).size() != s.ordinals.size())
        s.serialised_because = "one physical device stands for several";
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
                          std::to_string(shared_->drivers->drivers()) + " drivers");
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
    return shared_ ? shared_->launching.get() : devices_.launching();
}

void communicator::wait_for(std::vector<std::shared_ptr<event>> reached,
                            std::span<const rank_order> pairs) const {
    std::vector<event*> events;
    for (const auto& one : reached) events.push_back(one.get());
    all_gather(events);
    shared_->kept = std::move(reached); // also where a wait throws: the others wait for them
    for (const rank_order& pair : pairs)
        if (is_local(pair.after))
            (*this)[pair.after].wait(*events[static_cast<std::size_t>(pair.before)]);
}

void communicator::join() const {
    if (!shared_) return devices_.join();
    std::vector<rank_order> pairs;
    for (int before = 0; before < ranks(); ++before)
        for (const int after : local())
            if (before != after) pairs.push_back({before, after});
    std::vector<std::shared_ptr<event>> reached(static_cast<std::size_t>(ranks()));
    for (const int rank : local()) reached[static_cast<std::size_t>(rank)] = (*this)[rank].record();
    wait_for(std::move(reached), pairs);
}

void communicator::order(std::span<const rank_order> pairs) const {
    if (!shared_) return devices_.order(pairs);
    std::vector<std::shared_ptr<event>> reached(static_cast<std::size_t>(ranks()));
    for (const rank_order& pair : pairs) {
        auto& before = reached[static_cast<std::size_t>(pair.before)];
        if (is_local(pair.before) && !before) before = (*this)[pair.before].record();
    }
    wait_for(std::move(reached), pairs);
}

void communicator::launch_together(const std::function<void()>& launches) const {
    if (!shared_) return devices_.launch_together(launches);
    shared_->say_launching(1);
    try {
        launches();
        (void)gather_bytes({}); // all have launched
    } catch (...) {
        shared_->end_launches();
        throw;
    }
    shared_->end_launches();
}

void communicator::synchronize_all() const {
    synchronize();
    if (shared_) (void)gather_bytes({});
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

bool communicator::any(bool here) const {
    if (!shared_) return here;
    const auto word = static_cast<std::byte>(here);
    return std::ranges::any_of(gather_bytes({&word, 1}), [](const auto& of_driver) {
        return of_driver.front() != std::byte{0};
    });
}

void communicator::check_step(bool right) {
    if (!right)
        throw communication_error(
            "the drivers of a communicator call different functions: each must "
            "call the same ones in the same order");
}

void communicator::gather_items(std::span<std::byte> by_rank, std::size_t size) const {
    const auto own = by_rank.subspan(static_cast<std::size_t>(first_) * size,
                                     static_cast<std::size_t>(devices_.size()) * size);
    const auto all = gather_bytes(own);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto first = static_cast<std::size_t>(shared_->begin[k]) * size;
        const auto end = static_cast<std::size_t>(shared_->begin[k + 1]) * size;
        check_step(all[k].size() == end - first);
        std::ranges::copy(all[k], by_rank.begin() + static_cast<std::ptrdiff_t>(first));
    }
}

std::vector<std::vector<std::byte>>
communicator::gather_bytes(std::span<const std::byte> given) const {
    shared_ranks& s = *shared_;
    if (s.settled) throw failed_elsewhere(); // what follows a failure asks nobody any more
    auto all = s.say(message::value, given);
    if (!any_failed(all)) return without_kinds(all);
    s.end_launches();
    try {
        devices_.synchronize();
    } catch (...) { // the failure of the other driver is under way
    }
    (void)s.say(message::settled);
    s.settled = true;
    if (s.depth == 0) {
        ++s.depth;
        agree_on_failure();
    }
    throw failed_elsewhere();
}

void communicator::settle() const noexcept {
    if (shared_ && shared_->settled) return;
    // Outside of together() nobody would agree on the failure, and one that all have agreed on is
    // known to them.
    const bool tells = shared_ && shared_->depth != 0 && !shared_->unwinding && !shared_->gone;
    const auto say = [&](message kind) {
        try {
            if (tells && !shared_->gone) (void)shared_->say(kind);
        } catch (...) { // agree_on_failure() reports it
        }
    };
    if (shared_) shared_->end_launches();
    say(message::failed);
    try {
        devices_.synchronize();
    } catch (...) { // the first failure is under way
    }
    say(message::settled);
    if (tells) shared_->settled = true;
}

void communicator::begin_together() const {
    ++shared_->depth;
}

void communicator::end_together() const {
    synchronize_all();
    --shared_->depth;
}

void communicator::agree_on_failure() const {
    shared_ranks& s = *shared_;
    const std::exception_ptr own = std::current_exception();
    if (own && own == s.agreed) { // an inner call has agreed on it
        s.unwinding = --s.depth != 0;
        std::rethrow_exception(own);
    }
    s.unwinding = false;
    settle();
    --s.depth;
    bool elsewhere = own == nullptr;
    try {
        if (own) std::rethrow_exception(own);
    } catch (const failed_elsewhere&) {
        elsewhere = true;
    } catch (...) {
    }
    std::exception_ptr all_throw = own;
    if (!s.gone) {
        const auto words =
            without_kinds(s.say(message::words, failure_words(elsewhere ? nullptr : own)));
        const std::size_t first = first_failure(words);
        if (first == words.size())
            all_throw = std::make_exception_ptr(communication_error("a driver has failed"));
        else if (elsewhere || words[first] != failure_words(own))
            all_throw = failure_of(words[first]);
    }
    s.settled = false;
    s.unwinding = s.depth != 0;
    s.broken = true;
    s.agreed = all_throw;
    std::rethrow_exception(all_throw);
}

std::shared_ptr<const void> communicator::when_restored(std::function<void()> restore) const {
    return shared_ ? shared_->restorers.add(std::move(restore))
                   : devices_.when_restored(std::move(restore));
}

void communicator::note_failure() const noexcept {
    if (!shared_) return devices_.note_failure();
    shared_->broken = true;
}

void communicator::restore() const {
    if (!shared_) return devices_.restore();
    if (!shared_->broken) return;
    synchronize_all();
    shared_->restorers.run();
    join(); // words are right before any peer writes them
    shared_->broken = false;
}

} // namespace krylith
