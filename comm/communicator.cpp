#include <krylith/comm/communicator.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/comm/processes/peer_mappings.hpp>
#include <krylith/comm/processes/peer_marks.hpp>
#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/threads/of_process.hpp>

namespace krylith {

namespace {

/// Where a GPU is plugged in; 0 of host devices.
using device_place = std::array<char, 16>;

device_place place_of([[maybe_unused]] const device& any) {
    device_place place{};
#if KRYLITH_HAVE_CUDA
    if (any.kind() == backend::cuda) {
        const std::string id = cuda::pci_bus_id(any);
        std::ranges::copy_n(id.begin(),
                            static_cast<std::ptrdiff_t>(std::min(id.size(), place.size() - 1)),
                            place.begin());
    }
#endif
    return place;
}

int ordinal_of([[maybe_unused]] const device_place& place, backend kind) {
#if KRYLITH_HAVE_CUDA
    if (kind == backend::cuda) return cuda::ordinal_of(place.data());
#endif
    return kind == backend::host ? 0 : -1;
}

} // namespace

struct communicator::shared_ranks {
    std::vector<int> begin;       ///< [drivers + 1] the first rank of each
    bool staged = false;          ///< whether a driver has asked for staged copies
    bool posted = false;          ///< whether all paths between drivers are
    bool any_posted = false;      ///< whether there is one between its ranks
    std::vector<int> numbers;     ///< [ranks] among all that the drivers have
    std::vector<peer_path> paths; ///< [from * ranks + to]
    std::vector<device_place> devices;
    std::vector<int> ordinals; ///< of this driver for the devices; -1: it doesn't see them
    std::vector<std::vector<char>> descriptions;
    std::string serialised_because;

    [[nodiscard]] int ranks() const { return begin.back(); }
    [[nodiscard]] bool any_staged() const {
        return std::ranges::count(paths, peer_path::staged) != 0;
    }
    void find_posted() { any_posted = std::ranges::count(paths, peer_path::posted) != 0; }
    [[nodiscard]] bool repeats(backend kind) const {
        return kind == backend::cuda &&
               std::set(devices.begin(), devices.end()).size() != devices.size();
    }
};

/// What drivers of several processes have of each other's memory, for a communicator and all that
/// are made of its ranks.
struct communicator::process_memory {
    process_memory(const communicator& comm, std::vector<bool> near)
        : agreed(comm.agreement_),
          devices(comm.devices_),
          mappings(comm.devices_, comm.agreement_->driver(), comm.first_, std::move(near)),
          marks(comm.devices_, comm.first_, comm.ranks(), comm.agreement_->timeout_seconds(),
                comm.agreement_->words()) {}
    process_memory(const process_memory&) = delete;
    process_memory& operator=(const process_memory&) = delete;
    ~process_memory() {
        agreed->abandon_waits();
        try {
            devices.synchronize(); // they use what is mapped
        } catch (...) {            // NOLINT(bugprone-empty-catch): a failure is reported elsewhere
        }
    }

    std::shared_ptr<agreement> agreed;
    device_group devices;
    peer_mappings mappings;
    peer_marks marks;
};

namespace {

/// A number that no other process has.
struct process_token {
    std::array<std::uint32_t, 4> words{};
    process_token() {
        std::random_device source;
        for (std::uint32_t& word : words) word = source();
    }
    friend bool operator==(const process_token&, const process_token&) = default;
};

/// What the system calls its start; all 0 where it doesn't say.
using machine_token = std::array<char, 36>;

machine_token read_machine() {
    machine_token name{};
    std::ifstream("/proc/sys/kernel/random/boot_id").read(name.data(), name.size());
    return name;
}

} // namespace

communicator::communicator(device_group devices) : devices_(std::move(devices)) {}

communicator::communicator(device_group devices, std::shared_ptr<driver_link> drivers,
                           const communicator_options& options)
    : devices_(std::move(devices)) {
    if (drivers == nullptr)
        throw usage_error("a communicator of several groups needs a link to the others' drivers");
    if (drivers->drivers() == 1) return;
    agreement_ = std::make_shared<agreement>(devices_, std::move(drivers));
    shared_ = std::make_shared<shared_ranks>();
    shared_ranks& s = *shared_;
    const std::vector<bool> here =
        number_ranks(options); // drivers that are threads of this process
    find_devices();
    if (s.posted)
        agreement_->carry_messages(first_);
    else if (any(options.separate_memory || std::ranges::count(here, false) != 0))
        together([&] { map_processes(here); });
    else
        agreement_->share_events();
    s.descriptions = by_rank(*this, [&](int rank) {
        const std::string text = (*this)[rank].description();
        return std::vector<char>(text.begin(), text.end());
    });
    all_gather_lists(s.descriptions);
    find_paths();
}

/// Finds out who has which ranks.
std::vector<bool> communicator::number_ranks(const communicator_options& options) {
    struct of_driver {
        int size;
        backend kind;
        bool concurrent;
        bool staged;
        bool apart;
        process_token process;
        machine_token machine;
    };
    shared_ranks& s = *shared_;
    const of_driver own{devices_.size(),   devices_.kind(),           devices_.concurrent(),
                        devices_.staged(), options.separate_machines, of_process<process_token>(),
                        read_machine()};
    std::vector<bool> here;
    s.begin = {0};
    for (const auto& bytes :
         agreement_->all_gather(collective_step::numbers, std::as_bytes(std::span(&own, 1)))) {
        agreement::check_step(bytes.size() == sizeof(of_driver));
        of_driver group = own;
        std::memcpy(&group, bytes.data(), sizeof group);
        here.push_back(group.process == own.process);
        s.posted = s.posted || group.apart || group.machine != own.machine;
        if (group.kind != own.kind)
            throw usage_error("the drivers of a communicator have groups of different kinds");
        s.staged = s.staged || group.staged;
        if (!group.concurrent)
            s.serialised_because = devices_.concurrent() ? "a driver's devices can't run at once"
                                                         : devices_.serialised_because();
        s.begin.push_back(s.begin.back() + group.size);
    }
    first_ = s.begin[agreement_->driver()];
    s.numbers.resize(static_cast<std::size_t>(s.ranks()));
    std::iota(s.numbers.begin(), s.numbers.end(), 0);
    const int most = kind() == backend::cuda ? max_gpus : max_ranks;
    if (s.ranks() > most)
        throw usage_error("a communicator has 1 to " + std::to_string(most) + " ranks, not " +
                          std::to_string(s.ranks()));
    return here;
}

/// Finds out which devices the ranks are. A process may number them otherwise than another.
void communicator::find_devices() {
    shared_ranks& s = *shared_;
    s.devices = by_rank(*this, [&](int rank) { return place_of((*this)[rank]); });
    all_gather(s.devices);
    for (const device_place& place : s.devices) s.ordinals.push_back(ordinal_of(place, kind()));
    if (s.posted) return;
    if (any(std::ranges::count(s.ordinals, -1) != 0))
        throw usage_error("this process doesn't see all GPUs of the communicator "
                          "(CUDA_VISIBLE_DEVICES)");
}

/// Lets processes reach each other's memory.
void communicator::map_processes(std::vector<bool> near) {
    // CUDA opens no handles of the same process. Host devices do, so that tests see mappings.
    if (kind() == backend::host) near.assign(near.size(), false);
    processes_ = std::make_shared<process_memory>(*this, std::move(near));
    const auto own = by_rank(*this, [&](int rank) { return processes_->marks.of(rank); });
    processes_->marks.connect(addresses(std::span(own)));
}

/// The path from a local rank to any other.
peer_path communicator::path_from(int from, int to) const {
    if (is_local(to)) return devices_.path(from - first_, to - first_);
    if (shared_->posted) return peer_path::posted;
    if (shared_->staged) return peer_path::staged;
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
    s.find_posted();
    if (s.serialised_because.empty() && s.any_staged())
        s.serialised_because = s.staged ? "staged copies were asked for"
                                        : "devices of different drivers have no peer access";
    if (!s.posted && s.repeats(kind()))
        s.serialised_because = "one physical device stands for several";
    if (s.posted && !s.serialised_because.empty())
        throw usage_error("drivers on several machines need devices whose kernels can wait for "
                          "each other's: " +
                          s.serialised_because);
}

communicator communicator::sub(std::span<const int> ranks) const {
    if (ranks.empty() || ranks.front() < 0 || ranks.back() >= this->ranks() ||
        std::ranges::adjacent_find(ranks, std::greater_equal<>()) != ranks.end())
        throw usage_error("communicator::sub: allowed are some of the ranks 0 to " +
                          std::to_string(this->ranks() - 1) + ", one at least, ascending");
    if (ranks.size() == static_cast<std::size_t>(this->ranks())) return *this;
    std::vector<int> here;
    for (const int rank : ranks)
        if (is_local(rank)) here.push_back(rank - first_);
    communicator result(devices_.some(here));
    if (!shared_) return result;
    const auto& all = *shared_;
    auto s = std::make_shared<shared_ranks>();
    for (const int begin : all.begin)
        s->begin.push_back(
            static_cast<int>(std::ranges::lower_bound(ranks, begin) - ranks.begin()));
    s->posted = all.posted;
    for (const int rank : ranks) {
        const auto at = static_cast<std::size_t>(rank);
        s->numbers.push_back(all.numbers[at]);
        s->devices.push_back(all.devices[at]);
        s->ordinals.push_back(all.ordinals[at]);
        s->descriptions.push_back(all.descriptions[at]);
        for (const int to : ranks) s->paths.push_back(path(rank, to));
    }
    s->find_posted();
    if (s->any_staged() || s->repeats(kind())) s->serialised_because = all.serialised_because;
    result.first_ = s->begin[agreement_->driver()];
    result.agreement_ = agreement_;
    result.processes_ = processes_;
    result.shared_ = std::move(s);
    return result;
}

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

void communicator::wait_for(std::vector<std::shared_ptr<event>> reached,
                            std::span<const rank_order> pairs) const {
    std::vector<event*> events;
    for (const auto& one : reached) events.push_back(one.get());
    gather_items(collective_step::events, std::as_writable_bytes(std::span(events)),
                 sizeof(event*));
    agreement_->keep(std::move(reached)); // also where a wait throws: the others wait for them
    for (const rank_order& pair : pairs) {
        if (!is_local(pair.after)) continue;
        event* const before = events[static_cast<std::size_t>(pair.before)];
        agreement::check_step(before != nullptr); // its driver has given other pairs
        (*this)[pair.after].wait(*before);
    }
}

void communicator::join() const {
    if (!shared_) return devices_.join();
    if (ranks() == 1) return;
    if (processes_ || shared_->posted) {
        std::vector<rank_order> all;
        for (int before = 0; before < ranks(); ++before)
            for (int after = 0; after < ranks(); ++after)
                if (before != after) all.push_back({before, after});
        return processes_ ? order_processes(all) : order_machines(all);
    }
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
    if (processes_) return order_processes(pairs);
    if (shared_->posted) return order_machines(pairs);
    std::vector<std::shared_ptr<event>> reached(static_cast<std::size_t>(ranks()));
    for (const rank_order& pair : pairs) {
        auto& before = reached[static_cast<std::size_t>(pair.before)];
        if (is_local(pair.before) && !before) before = (*this)[pair.before].record();
    }
    wait_for(std::move(reached), pairs);
}

int communicator::driver_of(int rank) const {
    const auto after = std::ranges::upper_bound(shared_->begin, rank);
    return static_cast<int>(after - shared_->begin.begin()) - 1;
}

message_carrier* communicator::carrier() const noexcept {
    return shared_ && shared_->any_posted ? agreement_->carrier() : nullptr;
}

bool communicator::has_ranks_of(int driver) const {
    const auto at = static_cast<std::size_t>(driver);
    return shared_->begin[at] != shared_->begin[at + 1];
}

/// Hosts alone can order what devices of several machines do.
void communicator::order_machines(std::span<const rank_order> pairs) const {
    std::vector<rank_order> within;
    bool between = false;
    for (const rank_order& pair : pairs) {
        between = between || driver_of(pair.before) != driver_of(pair.after);
        if (is_local(pair.before) && is_local(pair.after))
            within.push_back({pair.before - first_, pair.after - first_});
    }
    if (between) return synchronize_all();
    devices_.order(within);
}

/// Marks are set before the drivers meet, and awaited after that: nobody waits for a driver that
/// has failed before it came here.
void communicator::order_processes(std::span<const rank_order> pairs) const {
    peer_marks& marks = processes_->marks;
    const std::vector<int>& numbers = shared_->numbers;
    const auto number = [&](int rank) { return numbers[static_cast<std::size_t>(rank)]; };
    const std::uint64_t own = marks.next();
    std::vector<rank_order> within;
    for (const rank_order& pair : pairs) {
        if (!is_local(pair.before)) continue;
        if (is_local(pair.after))
            within.push_back({pair.before - first_, pair.after - first_});
        else
            marks.set(number(pair.before), number(pair.after), own);
    }
    std::vector<std::uint64_t> counts;
    for (const auto& bytes :
         agreement_->all_gather(collective_step::events, std::as_bytes(std::span(&own, 1)))) {
        agreement::check_step(bytes.size() == sizeof own);
        std::memcpy(&counts.emplace_back(), bytes.data(), sizeof own);
    }
    for (const rank_order& pair : pairs) {
        if (is_local(pair.before) || !is_local(pair.after)) continue;
        marks.await(number(pair.before), number(pair.after),
                    counts[static_cast<std::size_t>(driver_of(pair.before))]);
    }
    devices_.order(within);
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
