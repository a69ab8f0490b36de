#include <krylith/matrix/types/index_width.hpp>

#include <atomic>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>

namespace krylith {
namespace {

std::atomic<std::int64_t> limit_in_force = index_limit;

} // namespace

std::int64_t index_size_limit() noexcept {
    return limit_in_force.load(std::memory_order_relaxed);
}

void check_index_size(std::string_view what, std::int64_t size) {
    const std::int64_t limit = index_size_limit();
    if (size < 0 || size > limit) {
        throw input_error(std::string(what) + " is " + std::to_string(size) +
                          ", allowed are 0 to " + std::to_string(limit));
    }
}

std::int32_t narrow_index_size(std::string_view what, std::int64_t size) {
    check_index_size(what, size);
    return static_cast<std::int32_t>(size);
}

mocked_index_limit::mocked_index_limit(std::int64_t limit) noexcept {
    limit_in_force = limit;
}

mocked_index_limit::~mocked_index_limit() {
    limit_in_force = index_limit;
}

} // namespace krylith
