// The iterations that devices record, fewer for tests.
#pragma once

#include <cstdint>

namespace krylith {

/// Lets a test outgrow what devices record with a short solve: while it lives, the whole process
/// records this many iterations at most (from 1024 on, which an execution has in any case).
class mocked_history {
public:
    explicit mocked_history(std::int64_t iterations) noexcept;
    ~mocked_history();
    mocked_history(const mocked_history&) = delete;
    mocked_history& operator=(const mocked_history&) = delete;
};

} // namespace krylith
