#include <krylith/sparse/sell/narrow_worth.hpp>

#include <atomic>

namespace krylith {

namespace {

std::atomic<int> mocked = 0;

} // namespace

bool narrow_pays(std::int64_t value_bytes, std::int64_t slices,
                 std::int64_t slice_columns) noexcept {
    constexpr std::int64_t large = 250'000; // slice-columns: 8 million entries
    if (mocked != 0) return true;
    if (slice_columns >= 14 * slices) return true;
    return value_bytes == 8 && slice_columns >= large;
}

bool stencil_pays(std::int64_t groups) noexcept {
    constexpr std::int64_t large = 1900; // 80^3 rows
    return mocked != 0 || groups >= large;
}

mocked_narrow_worth::mocked_narrow_worth() noexcept {
    ++mocked;
}

mocked_narrow_worth::~mocked_narrow_worth() {
    --mocked;
}

} // namespace krylith
