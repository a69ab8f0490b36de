#include <krylith/device/threads/interruption.hpp>

#include <utility>

namespace krylith {

namespace {

thread_local const interruption* innermost = nullptr;

} // namespace

interruption::interruption(std::function<bool()> wanted)
    : wanted_(std::move(wanted)), outer_(innermost), before_(innermost) {
    innermost = this;
}

interruption::interruption(const interruption* of_another_thread)
    : outer_(of_another_thread), before_(innermost) {
    innermost = of_another_thread == nullptr ? nullptr : this;
}

interruption::~interruption() {
    innermost = before_;
}

const interruption* interruption::current() noexcept {
    return innermost;
}

bool interruption::is_wanted() const {
    return (wanted_ && wanted_()) || (outer_ != nullptr && outer_->is_wanted());
}

void interruption_point() {
    if (innermost != nullptr && innermost->is_wanted())
        throw interrupted_error("set-up was interrupted");
}

} // namespace krylith
