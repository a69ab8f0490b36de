// How the drivers of a communicator act alike: what each says to all, and one failure for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/comm/driver_link.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/device/threads/restorers.hpp>

namespace krylith {

class message_carrier;

/// What a collective function asks of all drivers. Where they call different functions, what they
/// give must not be taken for something else.
enum class collective_step : unsigned char {
    numbers,   ///< of ranks
    lists,     ///< of ranks
    addresses, ///< of arrays
    events,    ///< that others wait for
    messages,  ///< from rank to rank
    answer,    ///< yes or no
    meeting    ///< nothing but that all are there
};

struct failure_place {
    std::optional<int> driver{}; ///< the first that failed; none where drivers could not agree
    bool here = true;            ///< whether this one had failed by itself, too
};

/// One driver's part of it. A communicator and all that are made of its ranks have the same: when
/// something fails, one driver may be inside a function of one of them, and others inside functions
/// of others.
class agreement {
public:
    /// `devices` are all those of the driver.
    agreement(device_group devices, std::shared_ptr<driver_link> drivers);
    agreement(const agreement&) = delete;
    agreement& operator=(const agreement&) = delete;
    ~agreement();

    [[nodiscard]] std::size_t drivers() const {
        return static_cast<std::size_t>(drivers_->drivers());
    }
    [[nodiscard]] std::size_t driver() const {
        return static_cast<std::size_t>(drivers_->driver());
    }
    /// Gives bytes to all drivers and returns those of each. Collective. Where a driver has failed,
    /// it throws when no device works any more.
    [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(collective_step step,
                                                                 std::span<const std::byte> given);
    /// Gives given[k] to driver k and returns what each has given this one. Collective, and fails
    /// likewise.
    [[nodiscard]] std::vector<std::vector<std::byte>>
    all_to_all(std::vector<std::vector<std::byte>> given);
    /// Waits until all drivers are there. Collective.
    void meet() { (void)all_gather(collective_step::meeting, {}); }
    /// Keeps events until the others have waited for them: until all give bytes again, or have
    /// ended.
    void keep(std::vector<std::shared_ptr<event>> events) { kept_ = std::move(events); }
    /// The drivers are threads of one process, and so can wait for each other's events. Collective.
    void share_events();
    /// Messages are carried between the drivers, which are on several machines, from now on;
    /// `first` is the first rank of this one.
    void carry_messages(int first);
    [[nodiscard]] message_carrier* carrier() const noexcept { return carrier_.get(); }
    [[nodiscard]] double timeout_seconds() const { return drivers_->timeout_seconds(); }
    /// Words of waits for marks: they end while a failure is under way, and for good once a driver
    /// has ended or did not answer; one that was too long is a failure of this driver.
    [[nodiscard]] mark_words words() const { return {abandoned_, overdue_}; }
    /// Ends these waits, since nobody uses the devices together any more.
    void abandon_waits() noexcept { set_abandoned(1); }
    /// Throws communication_error where others don't do what this driver does.
    static void check_step(bool right);

    /// communicator::launch_together() and launching().
    void launch_together(const std::function<void()>& launches);
    [[nodiscard]] const std::uint32_t* launching() const noexcept { return launching_.get(); }

    /// communicator::together() and settle().
    template <class Work>
    std::invoke_result_t<const Work&> together(const Work& work) {
        ++depth_;
        try {
            if constexpr (std::is_void_v<std::invoke_result_t<const Work&>>) {
                work();
                end_together();
            } else {
                auto result = work();
                end_together();
                return result;
            }
        } catch (...) {
            agree_on_failure(std::current_exception());
            throw; // not reached
        }
    }
    void settle() noexcept;
    /// communicator::last_failure().
    [[nodiscard]] failure_place last_failure() const noexcept { return last_failure_; }

    /// communicator::when_restored(), note_failure() and restore(). Words are restored together,
    /// whichever communicator has them.
    [[nodiscard]] std::shared_ptr<const void> when_restored(std::function<void()> restore) {
        return restorers_.add(std::move(restore));
    }
    void note_failure() noexcept { broken_ = true; }
    void restore();

private:
    enum class message : unsigned char;
    struct kept_events;
    void lose_drivers() noexcept;
    void set_abandoned(std::uint32_t value) noexcept;
    void check_waits();
    void finish_messages();
    void align_places();
    std::vector<std::vector<std::byte>> say(message kind,
                                            collective_step step = collective_step::meeting,
                                            std::span<const std::byte> bytes = {});
    void say_launching(std::uint32_t value);
    void wait_for_devices() const noexcept;
    void wait_for_all();
    void end_together();
    /// `own` is null where another driver has failed.
    [[noreturn]] void agree_on_failure(const std::exception_ptr& own);

    device_group devices_;
    std::shared_ptr<driver_link> drivers_;
    std::shared_ptr<std::uint32_t> launching_;
    std::shared_ptr<std::uint32_t> abandoned_;
    std::shared_ptr<std::uint32_t> overdue_;
    restorers restorers_;
    // Of the calls under way.
    int depth_ = 0;          ///< of together()
    bool settled_ = false;   ///< a failure is under way, and no device works any more
    bool unwinding_ = false; ///< drivers have agreed on a failure, which is on its way outwards
    bool gone_ = false;      ///< a driver has ended, or did not answer
    bool broken_ = false;    ///< words are to be restored
    double patience_ = std::numeric_limits<double>::infinity(); ///< seconds for others to answer
    failure_place last_failure_;
    std::exception_ptr agreed_; ///< what all drivers have thrown last
    std::vector<std::shared_ptr<event>> kept_;
    std::shared_ptr<kept_events> kept_by_all_; ///< null where drivers are processes
    std::unique_ptr<message_carrier> carrier_; ///< null: they are on one machine
};

} // namespace krylith
