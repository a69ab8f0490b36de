// How drivers find out about each other's ranks, devices and paths.
#include <krylith/comm/ranks/shared_ranks.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <span>

#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/threads/of_process.hpp>

namespace krylith {

namespace {

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
    const int most = kind() == backend::cuda && !s.posted ? max_gpus : max_ranks;
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

} // namespace krylith
