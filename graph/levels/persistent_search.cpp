#include <krylith/graph/levels/persistent_search.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmspv/kernels/backend_choice.hpp>

namespace krylith::spmspv {

level_walker::level_walker(std::shared_ptr<device> where, const edge_lists& graph,
                           std::int64_t vertices, std::int64_t most_work)
    : device_(std::move(where)),
      graph_(graph),
      most_work_(std::min<std::int64_t>(most_work, std::numeric_limits<std::int32_t>::max())),
      room_(std::min(vertices, most_work)),
      frontiers_(device_, 2 * as_size(room_), "walked levels"),
      scratch_(device_, KRYLITH_ON(*device_, walk_scratch_bytes()), "walked levels"),
      posted_(device_, posted_walk_words) {
    scratch_.zero();
}

void level_walker::enqueue(const visit& rule, sparse_vector<std::int32_t>& x,
                           std::int64_t most_levels) {
    const std::int64_t entries = x.count();
    if (entries > room_)
        throw usage_error("a walk over levels was to begin with " + std::to_string(entries) +
                          " vertices: allowed are at most " + std::to_string(room_));
    x.require(vector_form::pairs);
    // Its other forms are cleaned by the pairs, which stay where they are: the walk begins there.
    const auto pairs = x.overwrite_pairs();
    const walk_arguments a{graph_,
                           pairs.indices,
                           pairs.values,
                           pairs.count,
                           entries,
                           rule,
                           {frontiers_.data(), frontiers_.data() + room_},
                           std::min(most_levels, most_walked_levels),
                           most_work_,
                           scratch_.data(),
                           posted_.next()};
    KRYLITH_ON(*device_, walk_levels(*device_, a));
}

level_walk level_walker::wait(sparse_vector<std::int32_t>& x) {
    const auto words = posted_.wait();
    log_.clear();
    for (std::size_t l = 0; l < as_size(words[0]); ++l) {
        const std::int64_t* const entry = &words[posted_walk_heads + 2 * l];
        log_.push_back({entry[0] / walked_entries_unit, entry[0] % walked_entries_unit,
                        static_cast<double>(entry[1]) * 1e-9});
    }
    x.holds(vector_form::pairs, false, words[1]);
    return {log_, words[1], words[2], words[3] != 0};
}

} // namespace krylith::spmspv
