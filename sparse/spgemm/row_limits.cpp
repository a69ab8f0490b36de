#include <krylith/sparse/spgemm/row_limits.hpp>

#include <mutex>

namespace krylith {

namespace {

std::mutex guard;
row_limits in_force;

void put_in_force(const row_limits& limits) noexcept {
    const std::scoped_lock lock(guard);
    in_force = limits;
}

} // namespace

row_limits limits_of_rows() noexcept {
    const std::scoped_lock lock(guard);
    return in_force;
}

mocked_row_limits::mocked_row_limits(const row_limits& limits) noexcept {
    put_in_force(limits);
}

mocked_row_limits::~mocked_row_limits() {
    put_in_force({});
}

} // namespace krylith
