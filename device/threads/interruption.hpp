// Set-up that ends when it is asked to: at a deadline, or because somebody waits no longer.
#pragma once

#include <functional>

#include <krylith/device/error.hpp>

namespace krylith {

/// A set-up ended where an interruption wanted it.
class interrupted_error : public error {
public:
    using error::error;
};

/// While it lives, set-up of its thread asks `wanted` between its steps whether to end, and then
/// throws interrupted_error: multigrid between the steps of each level, ilut after each 1024 rows.
/// Other set-up runs to its end. What was being made is dropped; a preconditioner whose update()
/// ended so works again after one that succeeds. Threads that work for this one ask as well,
/// several at once. Where one interruption is made in the scope of another, both are asked.
class interruption {
public:
    explicit interruption(std::function<bool()> wanted);
    /// Makes this thread ask what another one does, which it works for meanwhile; null: nothing.
    explicit interruption(const interruption* of_another_thread);
    ~interruption();
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;

    /// The innermost of this thread; null: none.
    [[nodiscard]] static const interruption* current() noexcept;
    [[nodiscard]] bool is_wanted() const;

private:
    std::function<bool()> wanted_;
    const interruption* outer_;  ///< asked too
    const interruption* before_; ///< what was current
};

/// Throws interrupted_error where an interruption of this thread wants it.
void interruption_point();

} // namespace krylith
