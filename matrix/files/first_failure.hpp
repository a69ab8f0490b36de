// The failure that a loop in order would have met first.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>

namespace krylith::files {

/// Keeps, of the exceptions that threads meet in any order, the one of the lowest place: so a
/// parallel loop fails as a serial one does.
class first_failure {
public:
    /// Calls action(), and keeps what it throws.
    template <class Action>
    void attempt(std::int64_t place, const Action& action) noexcept {
        try {
            action();
        } catch (...) {
            const std::lock_guard lock(keeping_);
            if (place_ < 0 || place < place_) {
                place_ = place;
                failure_ = std::current_exception();
            }
        }
    }

    /// Throws what was kept. To be called behind the loop.
    void rethrow() const {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    std::mutex keeping_; // a critical section in a handler crashes with LLVM 14
    std::int64_t place_ = -1;
    std::exception_ptr failure_;
};

} // namespace krylith::files
