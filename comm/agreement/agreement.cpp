#include <krylith/comm/agreement/agreement.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include <krylith/comm/agreement/failure_words.hpp>
#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/device/words/host_block.hpp>

namespace krylith {

/// What a driver says with the bytes that it gives.
enum class agreement::message : unsigned char {
    value,   ///< these are what was asked for
    failed,  ///< something has failed here
    settled, ///< the devices of this driver are idle
    words    ///< the failure
};

namespace {

/// Thrown by a driver's collective functions where another one has failed, for together() to
/// replace.
class failed_elsewhere : public communication_error {
public:
    failed_elsewhere() : communication_error("another driver of the communicator has failed") {}
};

/// Seconds that a driver whose devices have waited in vain still waits for the other drivers.
constexpr double after_a_wait = 0.5;

constexpr std::size_t head = 2; ///< bytes: the kind of message, and the step

/// The bytes that drivers have given.
std::vector<std::vector<std::byte>> without_heads(const std::vector<std::vector<std::byte>>& all) {
    std::vector<std::vector<std::byte>> bytes;
    for (const auto& one : all) bytes.emplace_back(one.begin() + head, one.end());
    return bytes;
}

} // namespace

/// What drivers that have ended leave to the others.
struct agreement::kept_events {
    std::mutex guard;
    std::vector<std::shared_ptr<event>> events;
};

agreement::agreement(device_group devices, std::shared_ptr<driver_link> drivers)
    : devices_(std::move(devices)),
      drivers_(std::move(drivers)),
      launching_(make_host_word(devices_.handle(0))),
      abandoned_(make_host_word(devices_.handle(0))),
      overdue_(make_host_word(devices_.handle(0))) {}

agreement::~agreement() {
    if (kept_by_all_ == nullptr) return;
    const std::scoped_lock lock(kept_by_all_->guard);
    std::ranges::move(kept_, std::back_inserter(kept_by_all_->events));
}

void agreement::share_events() {
    const auto own = std::make_shared<kept_events>();
    const auto* const place = &own;
    const auto all = all_gather(collective_step::addresses, std::as_bytes(std::span(&place, 1)));
    const std::shared_ptr<kept_events>* first = nullptr;
    std::memcpy(&first, all.front().data(), sizeof first);
    kept_by_all_ = *first;
    meet(); // before the first driver's own is gone
}

void agreement::carry_messages(int first) {
    carrier_ = std::make_unique<message_carrier>(drivers_, devices_, first);
}

/// Nothing is under way any more. Collective.
void agreement::finish_messages() {
    carrier_->end_posting(); // before what it has posted is counted
    std::vector<std::uint64_t> coming;
    for (const auto& of_driver :
         all_gather(collective_step::numbers, std::as_bytes(carrier_->posted()))) {
        check_step(of_driver.size() == drivers() * sizeof(std::uint64_t));
        std::memcpy(&coming.emplace_back(), of_driver.data() + driver() * sizeof(std::uint64_t),
                    sizeof(std::uint64_t));
    }
    carrier_->finish(coming);
}

/// A driver may have failed before it had given a place that others have given.
void agreement::align_places() {
    std::uint64_t last = carrier_->last_place();
    for (const auto& of_driver : without_heads(
             say(message::words, collective_step::meeting, std::as_bytes(std::span(&last, 1))))) {
        std::uint64_t other = 0;
        if (of_driver.size() == sizeof other) std::memcpy(&other, of_driver.data(), sizeof other);
        last = std::max(last, other);
    }
    carrier_->set_last_place(last);
}

void agreement::check_step(bool right) {
    if (!right)
        throw communication_error(
            "the drivers of a communicator call different functions: each must "
            "call the same ones in the same order");
}

std::vector<std::vector<std::byte>> agreement::say(message kind, collective_step step,
                                                   std::span<const std::byte> bytes) {
    if (carrier_ != nullptr) {
        // Others may wait for what local kernels have left, or will leave, and their hosts don't
        // come here before.
        carrier_->take_over();
        for (int k = 0; k < devices_.size(); ++k) devices_[k].serve_while_busy();
        carrier_->carry();
    }
    std::vector<std::byte> given(head + bytes.size());
    given[0] = static_cast<std::byte>(kind);
    given[1] = static_cast<std::byte>(step);
    std::ranges::copy(bytes, given.begin() + head);
    try {
        auto all = drivers_->all_gather(given, patience_);
        kept_.clear();
        if (kind == message::value) unwinding_ = false;
        return all;
    } catch (...) {
        lose_drivers();
        throw;
    }
}

/// A driver has ended, or did not answer: nobody waits for others any more.
void agreement::lose_drivers() noexcept {
    gone_ = true;
    set_abandoned(1);
}

void agreement::set_abandoned(std::uint32_t value) noexcept {
    std::atomic_ref(*abandoned_).store(value, std::memory_order_release);
}

/// What is read behind a wait that was too long is not what it should be.
void agreement::check_waits() {
    if (carrier_ != nullptr) carrier_->check();
    const std::uint32_t overdue = std::atomic_ref(*overdue_).exchange(0);
    if (overdue != 0)
        throw communication_error("rank " + std::to_string(overdue - 1) +
                                  " of the communicator did not answer within " +
                                  number_text(timeout_seconds()) + " s");
}

/// Kernels that wait give up once this word is 0, so it comes before any wait for them.
void agreement::say_launching(std::uint32_t value) {
    std::atomic_ref(*launching_).store(value, std::memory_order_release);
}

void agreement::launch_together(const std::function<void()>& launches) {
    say_launching(1);
    try {
        launches();
        meet(); // all have launched
    } catch (...) {
        say_launching(0);
        throw;
    }
    say_launching(0);
}

/// Another failure is under way.
void agreement::wait_for_devices() const noexcept {
    try {
        devices_.synchronize();
    } catch (...) { // NOLINT(bugprone-empty-catch)
    }
}

std::vector<std::vector<std::byte>> agreement::all_gather(collective_step step,
                                                          std::span<const std::byte> given) {
    if (settled_) throw failed_elsewhere(); // what follows a failure asks nobody any more
    try {
        check_waits();
    } catch (...) {
        if (depth_ != 0) throw;
        ++depth_;
        agree_on_failure(std::current_exception());
    }
    const auto all = say(message::value, step, given);
    const auto is_value = [](const auto& one) {
        return static_cast<message>(one.front()) == message::value;
    };
    if (std::ranges::all_of(all, is_value)) {
        for (const auto& one : all) check_step(static_cast<collective_step>(one[1]) == step);
        return without_heads(all);
    }
    say_launching(0);
    set_abandoned(1);
    wait_for_devices();
    (void)say(message::settled);
    settled_ = true;
    if (depth_ == 0) {
        ++depth_;
        agree_on_failure(nullptr);
    }
    throw failed_elsewhere();
}

std::vector<std::vector<std::byte>>
agreement::all_to_all(std::vector<std::vector<std::byte>> given) {
    std::vector<std::uint64_t> sizes;
    for (const auto& bytes : given) sizes.push_back(bytes.size());
    std::vector<std::vector<std::byte>> received;
    for (const auto& of_driver :
         all_gather(collective_step::messages, std::as_bytes(std::span(sizes)))) {
        check_step(of_driver.size() == sizes.size() * sizeof sizes[0]);
        std::uint64_t size = 0;
        std::memcpy(&size, of_driver.data() + driver() * sizeof size, sizeof size);
        received.emplace_back(size);
    }
    meet(); // all have the memory
    try {
        return drivers_->all_to_all(std::move(given), std::move(received));
    } catch (const communication_error&) {
        lose_drivers();
        throw;
    }
}

void agreement::settle() noexcept {
    if (settled_) return;
    // Outside of together() nobody would agree on the failure, and one that all have agreed on is
    // known to them.
    const bool tells = depth_ != 0 && !unwinding_ && !gone_;
    const auto tell = [&](message kind) {
        try {
            if (tells && !gone_) (void)say(kind);
        } catch (...) { // agree_on_failure() reports it
        }
    };
    say_launching(0);
    if (tells && carrier_ != nullptr) carrier_->announce_failure();
    if (tells) set_abandoned(1); // until drivers have agreed on the failure
    tell(message::failed);
    wait_for_devices();
    tell(message::settled);
    if (tells) settled_ = true;
}

void agreement::wait_for_all() {
    devices_.synchronize();
    check_waits();
    meet();
}

void agreement::end_together() {
    wait_for_all();
    --depth_;
}

void agreement::restore() {
    if (!broken_) return;
    wait_for_all();
    if (carrier_ != nullptr) {
        finish_messages();
        meet(); // before a count begins anew
        carrier_->begin_anew();
    }
    restorers_.run();
    wait_for_all(); // words are right before any peer writes them
    broken_ = false;
}

void agreement::agree_on_failure(const std::exception_ptr& own) {
    if (own && own == agreed_) { // an inner call has agreed on it
        unwinding_ = --depth_ != 0;
        std::rethrow_exception(own);
    }
    unwinding_ = false;
    bool elsewhere = own == nullptr;
    try {
        if (own) std::rethrow_exception(own);
    } catch (const failed_elsewhere&) {
        elsewhere = true;
    } catch (const communication_error&) {
        patience_ = after_a_wait; // a driver has kept devices waiting, and may be gone
    } catch (...) {
    }
    settle();
    --depth_;
    std::exception_ptr all_throw = own;
    last_failure_ = {std::nullopt, !elsewhere};
    if (!gone_) {
        const auto words = without_heads(say(message::words, collective_step::meeting,
                                             failure_words(elsewhere ? nullptr : own)));
        if (carrier_ != nullptr) align_places();
        const std::size_t first = first_failure(words);
        if (first != words.size()) last_failure_.driver = static_cast<int>(first);
        if (first == words.size())
            all_throw = std::make_exception_ptr(communication_error("a driver has failed"));
        else if (elsewhere || words[first] != failure_words(own))
            all_throw = failure_of(words[first]);
    }
    patience_ = std::numeric_limits<double>::infinity();
    if (!gone_) set_abandoned(0);
    std::atomic_ref(*overdue_).store(0);
    settled_ = false;
    unwinding_ = depth_ != 0;
    note_failure();
    agreed_ = all_throw;
    std::rethrow_exception(all_throw);
}

} // namespace krylith
