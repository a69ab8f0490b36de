#include <krylith/comm/driver_link.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

/// Where threads meet. Two rounds have places of their own in turn: when a thread gives bytes for
/// round k + 2, all have given those of round k + 1, and so have taken those of round k.
struct meeting {
    explicit meeting(int threads, double seconds)
        : timeout(seconds),
          given{places(static_cast<std::size_t>(threads)), {}},
          gave(static_cast<std::size_t>(threads), false) {
        given[1] = given[0];
    }

    using places = std::vector<std::vector<std::byte>>;
    std::chrono::duration<double> timeout;
    std::mutex guard;
    std::condition_variable changed;
    std::array<places, 2> given;
    std::uint64_t round = 0;
    std::size_t arrived = 0;
    std::vector<bool> gave; ///< in this round
    std::vector<std::shared_ptr<const void>> kept;
    std::string failure; ///< empty: none
};

class thread_link final : public driver_link {
public:
    thread_link(std::shared_ptr<meeting> at, int driver) : at_(std::move(at)), driver_(driver) {}
    ~thread_link() override {
        const std::scoped_lock lock(at_->guard);
        if (at_->failure.empty())
            at_->failure = "driver " + std::to_string(driver_) + " of the communicator has ended";
        at_->changed.notify_all();
    }

    [[nodiscard]] int drivers() const noexcept override {
        return static_cast<int>(at_->given[0].size());
    }
    [[nodiscard]] int driver() const noexcept override { return driver_; }

    [[nodiscard]] std::vector<std::vector<std::byte>>
    all_gather(const std::vector<std::byte>& given) override {
        meeting& at = *at_;
        std::unique_lock lock(at.guard);
        if (!at.failure.empty()) throw communication_error(at.failure);
        const std::uint64_t round = at.round;
        auto& places = at.given[round & 1];
        const auto own = static_cast<std::size_t>(driver_);
        if (at.gave[own]) {
            at.failure = "two threads use the link of driver " + std::to_string(driver_) +
                         " of the communicator: each needs its own";
            at.changed.notify_all();
            throw communication_error(at.failure);
        }
        at.gave[own] = true;
        places[own] = given;
        if (++at.arrived == places.size()) {
            at.arrived = 0;
            at.gave.assign(places.size(), false);
            ++at.round;
            at.changed.notify_all();
            return places;
        }
        // Longer than the clock counts is for ever.
        constexpr std::chrono::duration<double> longest = std::chrono::hours(24 * 365 * 10);
        const bool met = at.changed.wait_for(lock, std::min(at.timeout, longest), [&] {
            return at.round != round || !at.failure.empty();
        });
        if (at.round != round) return places;
        if (!met) {
            at.failure = "a driver of the communicator did not answer within " +
                         number_text(at.timeout.count()) + " s";
            at.changed.notify_all();
        }
        throw communication_error(at.failure);
    }

    void keep(std::shared_ptr<const void> what) override {
        const std::scoped_lock lock(at_->guard);
        at_->kept.push_back(std::move(what));
    }

private:
    std::shared_ptr<meeting> at_;
    int driver_;
};

} // namespace

std::vector<std::shared_ptr<driver_link>> link_threads(int threads, double timeout_seconds) {
    if (threads < 1)
        throw usage_error("link_threads: " + std::to_string(threads) +
                          " threads, allowed is 1 or more");
    if (!(timeout_seconds > 0))
        throw usage_error("link_threads: timeout_seconds is " + number_text(timeout_seconds) +
                          ", allowed is more than 0");
    const auto at = std::make_shared<meeting>(threads, timeout_seconds);
    std::vector<std::shared_ptr<driver_link>> links;
    for (int k = 0; k < threads; ++k) links.push_back(std::make_shared<thread_link>(at, k));
    return links;
}

} // namespace krylith
