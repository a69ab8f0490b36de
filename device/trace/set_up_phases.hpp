// The phases of a long set-up.
#pragma once

#include <optional>

#include <krylith/device/threads/interruption.hpp>
#include <krylith/device/trace/trace_range.hpp>

namespace krylith {

/// Phases that follow one another: ranges of a trace, before each of which set-up may be
/// interrupted.
class set_up_phases {
public:
    explicit set_up_phases(const char* first) { begin(first); }

    void begin(const char* next) {
        range_.reset();
        interruption_point();
        range_.emplace(next);
    }

private:
    std::optional<trace_range> range_;
};

} // namespace krylith
