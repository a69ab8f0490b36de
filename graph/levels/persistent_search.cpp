#include <krylith/graph/levels/persistent_search.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::spmspv {

persistent_search::persistent_search(std::shared_ptr<device> device, const edge_lists& graph,
                                     std::int64_t vertices, std::int64_t most_frontier_nonzeros)
    : device_(std::move(device)),
      graph_(graph),
      most_frontier_nonzeros_(
          std::min<std::int64_t>(most_frontier_nonzeros, std::numeric_limits<std::int32_t>::max())),
      room_(std::min(vertices, most_frontier_nonzeros)),
      frontiers_(device_, 2 * as_size(room_), "persistent levels"),
      scratch_(device_, KRYLITH_ON(*device_, level_scratch_bytes()), "persistent levels"),
      posted_(device_, posted_level_words) {
    scratch_.zero();
}

void persistent_search::enqueue(const visit& rule, sparse_vector<std::int32_t>& x,
                                std::int64_t most_levels) {
    const std::int64_t entries = x.count();
    if (entries > room_)
        throw usage_error("persistent levels from " + std::to_string(entries) +
                          " vertices: allowed are at most " + std::to_string(room_));
    x.require(vector_form::pairs);
    // The other forms of x are cleaned by its pairs, which stay where they are for the launch to
    // read.
    const auto pairs = x.overwrite_pairs();
    const level_arguments a{graph_,
                            pairs.indices,
                            pairs.values,
                            pairs.count,
                            entries,
                            rule,
                            {frontiers_.data(), frontiers_.data() + room_},
                            std::min(most_levels, most_persistent_levels),
                            most_frontier_nonzeros_,
                            scratch_.data(),
                            posted_.next()};
    KRYLITH_ON(*device_, run_persistent_levels(*device_, a));
}

persistent_levels persistent_search::wait(sparse_vector<std::int32_t>& x) {
    const auto words = posted_.wait();
    log_.clear();
    for (std::size_t l = 0; l < as_size(words[0]); ++l) {
        const std::int64_t* const entry = &words[posted_level_heads + 2 * l];
        log_.push_back({entry[0] / level_entries_unit, entry[0] % level_entries_unit,
                        static_cast<double>(entry[1]) * 1e-9});
    }
    x.holds(vector_form::pairs, false, words[1]);
    return {log_, words[1], words[2], words[3] != 0};
}

} // namespace krylith::spmspv
