// What solvers keep from one solve to the next: executions, vectors and recorded loops.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace krylith {

/// The workspace of a solve, whichever solver it is of.
class kept_workspace {
public:
    kept_workspace() = default;
    kept_workspace(const kept_workspace&) = delete;
    kept_workspace& operator=(const kept_workspace&) = delete;
    virtual ~kept_workspace() = default;
};

/// Workspaces that no solve is using. A solve takes one off the shelf, so that no other gets it,
/// and puts it back at its end, unless it failed. Thread-safe; but workspaces are freed only by who
/// drives their device group, or where nobody does.
class workspace_shelf {
public:
    static constexpr std::size_t most = 4; ///< workspaces; the one that was used first makes room

    workspace_shelf() = default;
    workspace_shelf(const workspace_shelf&) = delete;
    workspace_shelf& operator=(const workspace_shelf&) = delete;
    ~workspace_shelf() = default;

    /// Takes the workspace of type W whose rank(w) is highest and above 0; null where there is
    /// none.
    template <class W, class Rank>
    [[nodiscard]] std::unique_ptr<W> take(const Rank& rank) {
        const std::scoped_lock lock(guard_);
        std::size_t best = kept_.size();
        int highest = 0;
        for (std::size_t i = 0; i < kept_.size(); ++i)
            if (const auto* w = dynamic_cast<const W*>(kept_[i].get())) {
                const int here = rank(*w);
                if (here > highest) {
                    highest = here;
                    best = i;
                }
            }
        if (best == kept_.size()) return nullptr;
        std::unique_ptr<W> taken(static_cast<W*>(kept_[best].release()));
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(best));
        return taken;
    }

    void put(std::unique_ptr<kept_workspace> workspace);
    /// Frees all workspaces that lie here.
    void release();
    [[nodiscard]] bool empty() const;

private:
    mutable std::mutex guard_;
    std::vector<std::unique_ptr<kept_workspace>> kept_; ///< the one used last at the end
};

} // namespace krylith
