#include <krylith/device/device_group.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/forks.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_threads.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/threads/restorers.hpp>
#include <krylith/device/words/host_block.hpp>

namespace krylith {

struct device_group::members {
    /// What a group knows of failures, and who is to be told before work goes on.
    struct failure_record {
        std::atomic<std::uint64_t> waits = 0;    ///< that have failed
        std::atomic<std::uint64_t> restored = 0; ///< failures that words have been restored after
        krylith::restorers restorers;
    };

    backend kind = backend::host;
    std::vector<std::shared_ptr<device>> devices;
    std::vector<peer_path> paths; // [from * size + to]
    bool staged = false;          ///< asked for
    std::string serialised_because;
    std::shared_ptr<std::uint32_t> launching; // or null
    std::unique_ptr<failure_record> failures = std::make_unique<failure_record>();
    int forks = krylith::forks(); // where the group was made
};

namespace {

void check_size(int size, int most) {
    if (size < 1 || size > most)
        throw usage_error("a device group has 1 to " + std::to_string(most) + " devices, not " +
                          std::to_string(size));
}

} // namespace

device_group device_group::host(int size, const group_options& options) {
    check_size(size, max_ranks);
    if (options.host_threads < 0)
        throw usage_error("host_threads must be 0 (one a core) or more, not " +
                          std::to_string(options.host_threads));
    if (options.host_threads > most_host_threads())
        throw usage_error("host_threads is " + std::to_string(options.host_threads) +
                          ": allowed are 0 (one a core) to " + std::to_string(most_host_threads()) +
                          " here");
    const int threads = options.host_threads != 0 ? options.host_threads : usable_cores();
    // Each device has a queue's thread, and the threads of the teams are beside these.
    probe_threads(std::max(threads, size),
                  std::to_string(size) +
                      (size == 1 ? " host device would" : " host devices would"));
    auto m = std::make_shared<members>();
    for (int i = 0; i < size; ++i) {
        const int each = threads / size + (i < threads % size ? 1 : 0);
        m->devices.push_back(std::make_shared<host_device>(i, std::max(1, each)));
    }
    const auto n = static_cast<std::size_t>(size);
    m->staged = options.staged;
    m->paths.assign(n * n, options.staged ? peer_path::staged : peer_path::direct);
    for (std::size_t i = 0; i < n; ++i) m->paths[i * n + i] = peer_path::direct;
    if (options.staged && size > 1) m->serialised_because = "staged copies were asked for";
    return device_group(std::move(m));
}

device_group device_group::cuda(std::span<const int> ordinals, const group_options& options) {
#if KRYLITH_HAVE_CUDA
    const int present = cuda::device_count();
    check_size(static_cast<int>(ordinals.size()), max_gpus);
    if (!options.streams.empty() && options.streams.size() != ordinals.size())
        throw usage_error("group_options::streams has " + std::to_string(options.streams.size()) +
                          " streams for " + std::to_string(ordinals.size()) + " devices");
    auto m = std::make_shared<members>();
    std::set<int> distinct;
    for (std::size_t i = 0; i < ordinals.size(); ++i) {
        const int ordinal = ordinals[i];
        if (ordinal < 0 || ordinal >= present) {
            if (present == 0)
                throw device_error("CUDA device " + std::to_string(ordinal) +
                                   " was asked for, but this machine has no usable CUDA device" +
                                   cuda_after_fork());
            throw usage_error("CUDA device " + std::to_string(ordinal) +
                              " is not there: allowed are 0 to " + std::to_string(present - 1));
        }
        distinct.insert(ordinal);
    }
    m->kind = backend::cuda;
    m->staged = options.staged;
    m->devices = cuda::make_devices(ordinals, options.streams);
    const std::size_t n = ordinals.size();
    m->paths.assign(n * n, peer_path::direct);
    if (distinct.size() != n) m->serialised_because = "one physical device stands for several";
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            if (i == j) continue;
            const bool peers = cuda::enable_peer_access(ordinals[i], ordinals[j]);
            if (peers && !options.staged) continue;
            m->paths[i * n + j] = peer_path::staged;
            m->serialised_because = options.staged
                                        ? "staged copies were asked for"
                                        : "CUDA devices " + std::to_string(ordinals[i]) + " and " +
                                              std::to_string(ordinals[j]) +
                                              " have no peer access: copies go through host memory";
        }
    if (n > 1 && m->serialised_because.empty()) m->launching = make_host_word(m->devices.front());
    return device_group(std::move(m));
#else
    (void)ordinals;
    (void)options;
    throw device_error("this krylith was built without CUDA (KRYLITH_CUDA=OFF): "
                       "use host devices");
#endif
}

device_group device_group::available(int most) {
    if (most < 1)
        throw usage_error("device_group::available: " + std::to_string(most) +
                          " devices, allowed is 1 or more");
    const int present = cuda_device_count();
    if (present == 0) return host(most == all ? 1 : most);
    std::vector<int> ordinals(static_cast<std::size_t>(std::min({most, present, max_gpus})));
    std::iota(ordinals.begin(), ordinals.end(), 0);
    return cuda(ordinals);
}

int device_group::size() const noexcept {
    return static_cast<int>(members_->devices.size());
}

const std::shared_ptr<device>& device_group::handle(int rank) const {
    return members_->devices.at(static_cast<std::size_t>(rank));
}

device& device_group::operator[](int rank) const {
    return *handle(rank);
}

backend device_group::kind() const noexcept {
    return members_->kind;
}

device_group device_group::some(std::span<const int> ranks) const {
    auto m = std::make_shared<members>();
    m->kind = kind();
    m->staged = staged();
    std::set<int> distinct;
    for (const int rank : ranks) {
        m->devices.push_back(handle(rank));
        distinct.insert(handle(rank)->ordinal());
        for (const int to : ranks) m->paths.push_back(path(rank, to));
    }
    if (distinct.size() != ranks.size() || std::ranges::count(m->paths, peer_path::staged) != 0)
        m->serialised_because = serialised_because();
    if (ranks.size() > 1) m->launching = members_->launching;
    return device_group(std::move(m));
}

bool device_group::same_devices(const device_group& other) const noexcept {
    return members_->kind == other.members_->kind && members_->devices == other.members_->devices;
}

bool device_group::staged() const noexcept {
    return members_->staged;
}

peer_path device_group::path(int from, int to) const noexcept {
    return members_->paths[static_cast<std::size_t>(from) * members_->devices.size() +
                           static_cast<std::size_t>(to)];
}

bool device_group::concurrent() const noexcept {
    return members_->serialised_because.empty();
}

const std::string& device_group::serialised_because() const noexcept {
    return members_->serialised_because;
}

void device_group::copy(int from, const void* source, int to, void* target,
                        std::size_t bytes) const {
    if (bytes == 0) return;
    device& sender = (*this)[from];
#if KRYLITH_HAVE_CUDA
    if (kind() == backend::cuda)
        return cuda::copy_across(sender, source, (*this)[to].ordinal(), target, bytes);
#endif
    (void)to;
    static_cast<host_device&>(sender).submit([=] { std::memcpy(target, source, bytes); });
}

void device_group::join() const {
    if (size() == 1) return;
    std::vector<std::shared_ptr<event>> reached;
    for (int i = 0; i < size(); ++i) reached.push_back((*this)[i].record());
    for (int i = 0; i < size(); ++i)
        for (int j = 0; j < size(); ++j)
            if (i != j) (*this)[i].wait(*reached[static_cast<std::size_t>(j)]);
}

std::vector<rank_order> both_ways(std::vector<rank_order> orders) {
    const std::size_t given = orders.size();
    for (std::size_t i = 0; i < given; ++i) orders.push_back({orders[i].after, orders[i].before});
    std::ranges::sort(orders);
    orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    return orders;
}

void device_group::order(std::span<const rank_order> pairs) const {
    std::vector<std::shared_ptr<event>> reached(static_cast<std::size_t>(size()));
    for (const rank_order& pair : pairs) {
        auto& before = reached[static_cast<std::size_t>(pair.before)];
        if (!before) before = (*this)[pair.before].record();
    }
    for (const rank_order& pair : pairs)
        (*this)[pair.after].wait(*reached[static_cast<std::size_t>(pair.before)]);
}

void device_group::launch_together(const std::function<void()>& launches) const {
    std::uint32_t* const word = members_->launching.get();
    if (word == nullptr)
        return launches(); // host devices count polls (vector/execution/host_signal.hpp)
    const auto say = [&](std::uint32_t value) {
        std::atomic_ref(*word).store(value, std::memory_order_release);
    };
    say(1);
    try {
        launches();
    } catch (...) {
        say(0);
        throw;
    }
    say(0);
}

const std::uint32_t* device_group::launching() const noexcept {
    return members_->launching.get();
}

void device_group::synchronize() const {
    // All devices are waited for, so that nothing still runs when the first failure is reported.
    std::exception_ptr first;
    for (int i = 0; i < size(); ++i) {
        try {
            (*this)[i].synchronize();
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
}

std::shared_ptr<const void> device_group::when_restored(std::function<void()> restore) const {
    return members_->failures->restorers.add(std::move(restore));
}

void device_group::note_failure() const noexcept {
    members_->failures->waits.fetch_add(1, std::memory_order_relaxed);
}

void device_group::restore() const {
    members::failure_record& record = *members_->failures;
    std::uint64_t failures = record.waits.load(std::memory_order_relaxed);
    for (const auto& d : members_->devices) failures += d->failures();
    if (failures == record.restored.load(std::memory_order_relaxed)) return;
    synchronize();
    record.restorers.run();
    join(); // words are right before any peer writes them
    record.restored.store(failures, std::memory_order_relaxed);
}

void device_group::check_process() const {
    check_not_forked(members_->forks, "this device group");
}

int cuda_device_count() noexcept {
#if KRYLITH_HAVE_CUDA
    return cuda::device_count();
#else
    return 0;
#endif
}

} // namespace krylith
