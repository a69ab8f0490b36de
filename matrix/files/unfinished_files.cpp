#include <krylith/matrix/files/unfinished_files.hpp>

#include <array>
#include <cerrno>

#include <unistd.h>

namespace krylith {
namespace {

enum slot_state : int { unused, being_filled, in_use };

struct slot {
    std::atomic<int> state{unused};
    std::array<char, 4096> path{};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

// The table has a fixed size, since a signal handler may neither allocate nor wait for a lock.
std::array<slot, 64> slots; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

} // namespace

void remove_unfinished_files() noexcept {
    const int before = errno;
    for (const slot& s : slots) {
        if (s.state.load(std::memory_order_acquire) == in_use) {
            static_cast<void>(unlink(s.path.data()));
        }
    }
    errno = before;
}

namespace binary {

unfinished_file::unfinished_file(const std::string& path) noexcept {
    for (slot& s : slots) {
        int expected = unused;
        if (path.size() < s.path.size() &&
            s.state.compare_exchange_strong(expected, being_filled, std::memory_order_acquire)) {
            path.copy(s.path.data(), path.size());
            s.path[path.size()] = '\0';
            s.state.store(in_use, std::memory_order_release);
            state_ = &s.state;
            return;
        }
    }
}

unfinished_file::~unfinished_file() {
    if (state_ != nullptr) {
        state_->store(unused, std::memory_order_release);
    }
}

} // namespace binary
} // namespace krylith
