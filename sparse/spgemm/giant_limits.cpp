#include <krylith/sparse/spgemm/giant_limits.hpp>

#include <mutex>

namespace krylith {

namespace {

std::mutex guard;
giant_limits in_force;

void put_in_force(const giant_limits& limits) noexcept {
    const std::scoped_lock lock(guard);
    in_force = limits;
}

} // namespace

giant_limits limits_of_giants() noexcept {
    const std::scoped_lock lock(guard);
    return in_force;
}

mocked_giant_limits::mocked_giant_limits(const giant_limits& limits) noexcept {
    put_in_force(limits);
}

mocked_giant_limits::~mocked_giant_limits() {
    put_in_force({});
}

} // namespace krylith
