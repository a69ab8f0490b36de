// Links of threads of one process.
#include <krylith/comm/driver_link.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using bytes_of_one = std::vector<std::byte>;

/// Where threads meet. Two rounds have places of their own in turn: when a thread gives bytes for
/// round k + 2, all have given those of round k + 1, and so have taken those of round k.
struct meeting {
    explicit meeting(std::size_t threads) : gave(threads, false), ended(threads, false) {
        given.fill(std::vector<bytes_of_one>(threads));
    }

    /// Ends the gatherings of all threads. The first reason stays.
    void end(int status, const std::string& why) {
        if (failure == KRYLITH_LINK_DONE) {
            failure = status;
            words = why;
        }
        changed.notify_all();
    }

    std::mutex guard;
    std::condition_variable changed;
    std::array<std::vector<bytes_of_one>, 2> given;
    std::uint64_t round = 0;
    std::size_t arrived = 0;
    std::vector<bool> gave;  ///< in this round
    std::vector<bool> ended; ///< threads, which have sent all that they will
    std::map<std::tuple<int, int, int>, std::deque<bytes_of_one>> mail; ///< by from, to, tag
    int failure = KRYLITH_LINK_DONE;
    std::string words;
};

class thread_end {
public:
    thread_end(std::shared_ptr<meeting> at, int driver) : at_(std::move(at)), driver_(driver) {}

    int allgather(const void* given, void* all, std::size_t bytes, double seconds) {
        meeting& at = *at_;
        std::unique_lock lock(at.guard);
        if (at.failure != KRYLITH_LINK_DONE) return at.failure;
        const std::uint64_t round = at.round;
        auto& places = at.given[round & 1];
        const auto own = static_cast<std::size_t>(driver_);
        if (at.gave[own]) {
            at.end(KRYLITH_LINK_FAILED, "two threads use the link of driver " +
                                            std::to_string(driver_) +
                                            " of the communicator: each needs its own");
            return at.failure;
        }
        at.gave[own] = true;
        const auto* const first = static_cast<const std::byte*>(given);
        places[own].assign(first, first + bytes);
        if (++at.arrived == places.size()) {
            at.arrived = 0;
            at.gave.assign(places.size(), false);
            ++at.round;
            at.changed.notify_all();
        } else {
            // Longer than the clock counts is for ever.
            constexpr std::chrono::duration<double> longest = std::chrono::hours(24 * 365 * 10);
            const std::chrono::duration<double> wanted(seconds);
            at.changed.wait_for(lock, std::min(wanted, longest), [&] {
                return at.round != round || at.failure != KRYLITH_LINK_DONE;
            });
        }
        if (at.round == round) {
            at.end(KRYLITH_LINK_TIMED_OUT, "");
            return at.failure;
        }
        auto* to = static_cast<std::byte*>(all);
        for (const bytes_of_one& one : places) to = std::ranges::copy(one, to).out;
        return KRYLITH_LINK_DONE;
    }

    void* post(int to, int tag, const void* given, std::size_t bytes) {
        const auto* const first = static_cast<const std::byte*>(given);
        const std::scoped_lock lock(at_->guard);
        at_->mail[{driver_, to, tag}].emplace_back(first, first + bytes);
        return &posted_; // the bytes are copied, so that it is done
    }

    void* receive(int from, int tag, void* place, std::size_t bytes) {
        auto one = std::make_unique<expected>(expected{{from, driver_, tag}, place, bytes});
        void* const request = one.get();
        receives_.emplace(request, std::move(one));
        return request;
    }

    int test(void* request) {
        if (request == &posted_) return KRYLITH_LINK_DONE;
        const int status = take(*static_cast<const expected*>(request));
        if (status != KRYLITH_LINK_PENDING) receives_.erase(request);
        return status;
    }

    void abort() {
        const std::scoped_lock lock(at_->guard);
        at_->ended[static_cast<std::size_t>(driver_)] = true;
        at_->end(KRYLITH_LINK_ENDED,
                 "driver " + std::to_string(driver_) + " of the communicator has ended");
    }

    /// The words of the first failure stay as they are.
    [[nodiscard]] const char* error() const {
        const std::scoped_lock lock(at_->guard);
        return at_->words.c_str();
    }

private:
    struct expected {
        std::tuple<int, int, int> address;
        void* place;
        std::size_t bytes;
    };

    [[nodiscard]] int take(const expected& one) const {
        const std::scoped_lock lock(at_->guard);
        std::deque<bytes_of_one>& mail = at_->mail[one.address];
        if (mail.empty()) {
            const auto from = static_cast<std::size_t>(std::get<0>(one.address));
            const bool none_comes = at_->failure != KRYLITH_LINK_DONE &&
                                    (at_->failure != KRYLITH_LINK_ENDED || at_->ended[from]);
            return none_comes ? at_->failure : KRYLITH_LINK_PENDING;
        }
        std::memcpy(one.place, mail.front().data(), one.bytes);
        mail.pop_front();
        return KRYLITH_LINK_DONE;
    }

    std::shared_ptr<meeting> at_;
    int driver_;
    char posted_ = 0; ///< its address is the request of all posts
    std::unordered_map<void*, std::unique_ptr<expected>> receives_; ///< that weren't done yet
};

thread_end& end_of(void* context) {
    return *static_cast<thread_end*>(context);
}

krylith_link table_of(std::shared_ptr<meeting> at, int driver, int threads) {
    krylith_link table{};
    table.size = sizeof table;
    table.version = KRYLITH_LINK_VERSION;
    table.rank = driver;
    table.n = threads;
    table.context = new thread_end(std::move(at), driver);
    table.allgather = [](void* context, const void* given, void* all, size_t bytes,
                         double seconds) {
        return end_of(context).allgather(given, all, bytes, seconds);
    };
    table.post = [](void* context, int32_t to, int32_t tag, const void* given, size_t bytes) {
        return end_of(context).post(to, tag, given, bytes);
    };
    table.receive = [](void* context, int32_t from, int32_t tag, void* place, size_t bytes) {
        return end_of(context).receive(from, tag, place, bytes);
    };
    table.test = [](void* context, void* request) { return end_of(context).test(request); };
    table.progress = [](void*) { return int{KRYLITH_LINK_DONE}; };
    table.abort = [](void* context) { end_of(context).abort(); };
    table.error = [](void* context) { return end_of(context).error(); };
    table.destroy = [](void* context) { delete &end_of(context); };
    return table;
}

} // namespace

std::vector<std::shared_ptr<driver_link>> link_threads(int threads, double timeout_seconds) {
    if (threads < 1)
        throw usage_error("link_threads: " + std::to_string(threads) +
                          " threads, allowed is 1 or more");
    const auto at = std::make_shared<meeting>(static_cast<std::size_t>(threads));
    std::vector<std::shared_ptr<driver_link>> links;
    for (int k = 0; k < threads; ++k)
        links.push_back(std::make_shared<driver_link>(table_of(at, k, threads), timeout_seconds));
    return links;
}

} // namespace krylith
