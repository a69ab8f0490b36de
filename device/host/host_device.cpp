#include <krylith/device/host/host_device.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_arena.hpp>
#include <krylith/device/host/host_memory.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/memory/memory_room.hpp>

namespace krylith {

namespace {

/// Uploads up to this size are copied aside, so that the host need not wait until they run.
constexpr std::size_t small_upload = std::size_t{64} << 10;

/// Uploads up to this size are copied by the calling thread when it is their turn, which is faster
/// than a hand-over to the worker and its team.
constexpr std::size_t direct_upload = std::size_t{1} << 20;

/// Calls work(offset, bytes) for the fractions of a block, by the team that later works on them:
/// the first touch decides which memory they live in.
template <class Work>
void by_parts(std::size_t bytes, int threads, const Work& work) {
    constexpr std::size_t worth_a_thread = std::size_t{64} << 10;
    const bool small = bytes < worth_a_thread * static_cast<std::size_t>(threads);
    in_team(small ? 1 : threads, [&](int thread, int team) {
        const auto part = bytes / static_cast<std::size_t>(team);
        const auto begin = part * static_cast<std::size_t>(thread);
        work(begin, thread + 1 == team ? bytes - begin : part);
    });
}

void copy_by_parts(void* to, const void* from, std::size_t bytes, int threads) {
    by_parts(bytes, threads, [&](std::size_t begin, std::size_t count) {
        std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, count);
    });
}

} // namespace

/// Happens when the first `count` tasks of a queue are done.
class host_device::host_event final : public event {
public:
    host_event(std::shared_ptr<host_queue> queue, std::uint64_t count)
        : queue_(std::move(queue)), count_(count) {}

    void wait() override { queue_->wait_for(count_); }

    [[nodiscard]] std::function<void()> follower() const {
        return [queue = queue_, count = count_] { queue->follow(count); };
    }

    /// The same event as one of a host device or of its side queues; null for others.
    [[nodiscard]] static const host_event* of(const event& any) {
        return dynamic_cast<const host_event*>(&any);
    }

private:
    std::shared_ptr<host_queue> queue_;
    std::uint64_t count_;
};

/// A side queue whose copies are made by a thread of its own.
class host_device::side_worker final : public side_queue {
public:
    explicit side_worker(const std::string& name)
        : queue_(make_host_queue(name)), good_(std::make_shared<bool>(true)) {}
    side_worker(const side_worker&) = delete;
    side_worker& operator=(const side_worker&) = delete;
    ~side_worker() override { queue_->close(); }

    void wait(event& happened) override {
        const auto* other = host_event::of(happened);
        if (other == nullptr) throw usage_error("a host device can't wait for a CUDA event");
        queue_->push([good = good_, follow = other->follower()] {
            *good = true;
            try {
                follow();
            } catch (const device_error&) { // reported by the device that failed
                *good = false;
            }
        });
    }

    void copy(const void* from, device&, void* target, std::size_t bytes) override {
        queue_->push([=, good = good_] {
            if (*good) std::memcpy(target, from, bytes);
        });
    }

    void bring(const void* from, void* target, std::size_t bytes) override {
        queue_->push([=] { std::memcpy(target, from, bytes); });
    }

    void write(std::uint64_t* target, std::uint64_t word) override {
        queue_->push([=] { std::atomic_ref(*target).store(word, std::memory_order_release); });
    }

    [[nodiscard]] std::shared_ptr<event> record() override {
        return std::make_shared<host_event>(queue_, queue_->given());
    }

private:
    std::shared_ptr<host_queue> queue_; // shared with events
    std::shared_ptr<bool> good_;        // only the worker uses it: no failure before the next copy
};

/// A loop. Launches share the body, so that a loop may be destroyed while it still runs.
class host_device::loop final : public loop_graph {
public:
    explicit loop(host_device& device) : device_(device), body_(std::make_shared<body>()) {}
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    ~loop() override {
        if (device_.recording_ == &body_->tasks) device_.recording_ = nullptr;
    }

    void begin_recording() override {
        device_.reject_while_recording("another recording");
        if (!body_->tasks.empty()) throw usage_error("this loop is recorded already");
        device_.recording_ = &body_->tasks;
    }

    void end_recording() override {
        if (device_.recording_ != &body_->tasks) throw usage_error("this loop is not recorded now");
        device_.recording_ = nullptr;
    }

    void launch() override {
        device_.reject_while_recording("a launch");
        device_.submit([shared = body_] {
            try {
                do {
                    shared->again = true;
                    for (const auto& task : shared->tasks) task();
                } while (shared->again);
            } catch (...) {
                if (shared->failed) shared->failed();
                throw;
            }
        });
    }

    void if_failed(std::function<void()> tell) override { body_->failed = std::move(tell); }

    [[nodiscard]] std::uint64_t condition() const noexcept override {
        return reinterpret_cast<std::uintptr_t>(&body_->again);
    }

private:
    struct body {
        task_list tasks;
        bool again = false;
        std::function<void()> failed;
    };
    host_device& device_;
    std::shared_ptr<body> body_;
};

host_device::host_device(int ordinal, int threads) : ordinal_(ordinal), threads_(threads) {
    if (threads < 1)
        throw usage_error("a host device needs at least 1 thread, not " + std::to_string(threads));
    arena_ = make_host_arena(threads);
    shared_arena_ = make_host_arena(threads, shared_);
    queue_ = make_host_queue("host:" + std::to_string(ordinal));
}

host_device::~host_device() {
    queue_->close();
}

std::string host_device::description() const {
    return "host:" + std::to_string(ordinal_) + ", " + std::to_string(threads_) +
           (threads_ == 1 ? " thread" : " threads");
}

std::size_t host_device::free_bytes() const {
    return find_memory_room().bytes;
}

void* host_device::allocate(std::size_t bytes, const std::string& item) {
    void* const pointer = memory_of(bytes);
    if (pointer == nullptr)
        throw memory_error("host:" + std::to_string(ordinal_) + ": no memory for " + item + ": " +
                           shortage(bytes, find_memory_room()));
    try {
        ledger().add(item, bytes);
    } catch (...) {
        give_back(pointer, bytes);
        throw;
    }
    return pointer;
}

void host_device::deallocate(void* pointer, std::size_t bytes, const std::string& item) noexcept {
    if (pointer == nullptr) return;
    ledger().remove(item, bytes);
    if (queue_->abandoned()) return; // the parent's worker may have held the arena's lock
    try {
        queue_->push_always([pointer, arena = arena_of(pointer, bytes)] {
            if (arena != nullptr)
                arena->deallocate(pointer);
            else
                free_host_memory(pointer);
        });
    } catch (...) { // there is no memory for the task: wait instead
        try {
            queue_->follow(queue_->given());
        } catch (...) { // NOLINT(bugprone-empty-catch): a failure is reported elsewhere
        }
        give_back(pointer, bytes);
    }
}

/// The arena that gives a block; null: the C library does.
slab_arena* host_device::arena_for(std::size_t bytes) const noexcept {
    if (shared_.begun()) return shared_arena_.get();
    return bytes >= least_arena_block ? arena_.get() : nullptr;
}

/// The arena that has given a block.
slab_arena* host_device::arena_of(const void* pointer, std::size_t bytes) noexcept {
    if (shared_.begun() && shared_.has(pointer)) return shared_arena_.get();
    return bytes >= least_arena_block ? arena_.get() : nullptr;
}

void* host_device::memory_of(std::size_t bytes) {
    if (slab_arena* const arena = arena_for(bytes)) return arena->allocate(bytes);
    // The system promises memory that it has not got: asking first fails here and not at the use.
    const bool room = bytes < least_arena_block || bytes <= free_bytes();
    return room ? allocate_host_memory(bytes) : nullptr;
}

void host_device::give_back(void* pointer, std::size_t bytes) noexcept {
    if (slab_arena* const arena = arena_of(pointer, bytes))
        arena->deallocate(pointer);
    else
        free_host_memory(pointer);
}

void host_device::upload(void* to, const void* from, std::size_t bytes) {
    reject_while_recording("an upload");
    if (bytes == 0) return;
    if (bytes <= small_upload) {
        const auto* first = static_cast<const std::byte*>(from);
        submit([to, aside = std::vector<std::byte>(first, first + bytes)] {
            std::memcpy(to, aside.data(), aside.size());
        });
        return;
    }
    const bool here = bytes <= direct_upload;
    if (!here) submit([=, threads = threads_] { copy_by_parts(to, from, bytes, threads); });
    try {
        queue_->follow(queue_->given());
        if (here) std::memcpy(to, from, bytes);
    } catch (const device_error&) { // NOLINT(bugprone-empty-catch)
        // The task was skipped after an earlier failure, which the next synchronize() reports.
    }
}

void host_device::download(void* to, const void* from, std::size_t bytes) {
    reject_while_recording("a download");
    synchronize();
    if (bytes != 0) std::memcpy(to, from, bytes);
}

void host_device::copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    submit([=, threads = threads_] { copy_by_parts(to, from, bytes, threads); });
}

void host_device::zero(void* to, std::size_t bytes) {
    if (bytes == 0) return;
    submit([=, threads = threads_] {
        by_parts(bytes, threads, [to](std::size_t begin, std::size_t count) {
            std::memset(static_cast<char*>(to) + begin, 0, count);
        });
    });
}

std::shared_ptr<event> host_device::record() {
    reject_while_recording("an event");
    return std::make_shared<host_event>(queue_, queue_->given());
}

void host_device::wait(event& happened) {
    reject_while_recording("a wait for an event");
    const auto* other = host_event::of(happened);
    if (other == nullptr) throw usage_error(description() + " can't wait for a CUDA event");
    // The follower runs also after a failure: memory that a side queue reads may be freed only
    // then.
    queue_->push_always(other->follower());
}

void host_device::set_mark(std::uint64_t* mark, std::uint64_t count) {
    reject_while_recording("a mark");
    queue_->push_always([=] { std::atomic_ref(*mark).store(count, std::memory_order_release); });
}

void host_device::await_mark(const mark_wait& awaited) {
    reject_while_recording("a wait for a mark");
    queue_->push_always([awaited] {
        using clock = std::chrono::steady_clock;
        const auto begin = clock::now();
        const auto load = [](const auto& word) {
            return std::atomic_ref(const_cast<std::remove_cvref_t<decltype(word)>&>(word))
                .load(std::memory_order_acquire);
        };
        while (load(*awaited.mark) < awaited.least && load(*awaited.words.abandoned) == 0) {
            const std::chrono::duration<double> waited = clock::now() - begin;
            if (waited.count() > awaited.timeout_seconds) {
                std::atomic_ref(*awaited.words.overdue)
                    .store(1 + static_cast<std::uint32_t>(awaited.rank));
                return;
            }
            std::this_thread::yield();
        }
    });
}

void host_device::synchronize() {
    reject_while_recording("a wait of the host");
    ++waits_;
    serve_while_busy();
    queue_->wait_idle();
}

bool host_device::idle() {
    return queue_->idle();
}

std::unique_ptr<loop_graph> host_device::make_loop() {
    return std::make_unique<loop>(*this);
}

std::unique_ptr<side_queue> host_device::make_side_queue() {
    return std::make_unique<side_worker>("copies of host:" + std::to_string(ordinal_));
}

void host_device::submit(std::function<void()> task) {
    if (recording_ != nullptr)
        recording_->push_back(std::move(task));
    else
        queue_->push(std::move(task));
}

void host_device::reject_while_recording(const char* what) const {
    if (recording_ != nullptr)
        throw usage_error(std::string("the body of a device loop can't contain ") + what);
}

} // namespace krylith
