// The limit of indices, lowered for tests. Not installed.
#pragma once

#include <cstdint>

namespace krylith {

/// Lets a test reach the limit with small data: while it lives, the whole process has the limit
/// `limit` (0 to index_limit).
class mocked_index_limit {
public:
    explicit mocked_index_limit(std::int64_t limit) noexcept;
    ~mocked_index_limit();
    mocked_index_limit(const mocked_index_limit&) = delete;
    mocked_index_limit& operator=(const mocked_index_limit&) = delete;
};

} // namespace krylith
