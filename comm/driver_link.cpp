#include <krylith/comm/driver_link.hpp>

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
        : timeout(seconds), given{places(static_cast<std::size_t>(threads)), {}} {
        given[1] = given[0];
    }

    using places = std::vector<std::vector<std::byte>>;
    std::chrono::duration<double> timeout;
    std::mutex guard;
    std::condition_variable changed;
    std::array<places, 2> given;
    std::uint64_t round = 0;
    std::size_t arrived = 0;
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
        places[static_cast<std::size_t>(driver_)] = given;
        if (++at.arrived == places.size()) {
            at.arrived = 0;
            ++at.round;
            at.changed.notify_all();
            return places;
        }
        const bool met = at.changed.wait_for(
            lock, at.timeout, [&] { return at.round != round || !at.failure.empty(); });
        if (at.round != round) return places;
        if (!met) {
            at.failure = "a driver of the communicator did not answer within " +
                         number_text(at.timeout.count()) + " s";
            at.changed.notify_all();
        }
        throw communication_error(at.failure);
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
    const auto at = std::make_shared<meeting>(threads, timeout_seconds);
    std::vector<std::shared_ptr<driver_link>> links;
    for (int k = 0; k < threads; ++k) links.push_back(std::make_shared<thread_link>(at, k));
    return links;
}

} // namespace krylith
