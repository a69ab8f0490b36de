#include <krylith/vector/kept/workspace_shelf.hpp>

namespace krylith {

void workspace_shelf::put(std::unique_ptr<kept_workspace> workspace) {
    std::unique_ptr<kept_workspace> oldest; // it is freed when the lock is given up
    const std::scoped_lock lock(guard_);
    kept_.push_back(std::move(workspace));
    if (kept_.size() <= most) return;
    oldest = std::move(kept_.front());
    kept_.erase(kept_.begin());
}

void workspace_shelf::release() {
    std::vector<std::unique_ptr<kept_workspace>> all;
    const std::scoped_lock lock(guard_);
    all.swap(kept_);
}

bool workspace_shelf::empty() const {
    const std::scoped_lock lock(guard_);
    return kept_.empty();
}

} // namespace krylith
