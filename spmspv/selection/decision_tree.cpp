#include <krylith/spmspv/selection/decision_tree.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith::spmspv {

namespace {

std::string out_of(const char* what, std::int64_t found, std::int64_t least, std::int64_t most) {
    return std::string(what) + " is " + std::to_string(found) + ", must be " +
           (least > most ? "a node behind this one, and there is none"
                         : std::to_string(least) + " to " + std::to_string(most));
}

} // namespace

std::optional<tree_fault> find_fault(const std::vector<tree_node>& nodes, std::int32_t labels) {
    if (nodes.empty()) return tree_fault{0, "there are no nodes, must be at least 1"};
    const auto last = static_cast<std::int64_t>(nodes.size()) - 1;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        const tree_node& node = nodes[k];
        const auto behind = static_cast<std::int64_t>(k) + 1;
        const auto is_behind = [&](std::int32_t child) { return child >= behind && child <= last; };
        if (node.leaf() && node.above == 0) {
            if (node.label < 0 || node.label >= labels)
                return tree_fault{k, out_of("label", node.label, 0, labels - 1)};
            continue;
        }
        if (!is_behind(node.below)) return tree_fault{k, out_of("below", node.below, behind, last)};
        if (!is_behind(node.above)) return tree_fault{k, out_of("above", node.above, behind, last)};
        if (static_cast<int>(node.tests) >= feature_count)
            return tree_fault{
                k, out_of("feature", static_cast<int>(node.tests), 0, feature_count - 1)};
        if (!std::isfinite(node.threshold))
            return tree_fault{k,
                              "threshold is " + number_text(node.threshold) + ", must be finite"};
    }
    return std::nullopt;
}

decision_tree::decision_tree(std::vector<tree_node> nodes, std::int32_t labels)
    : nodes_(std::move(nodes)) {
    if (const auto fault = find_fault(nodes_, labels))
        throw input_error("decision tree, node " + std::to_string(fault->node) + ": " +
                          fault->what);
}

std::int32_t decision_tree::operator()(const feature_source& value) const {
    const tree_node* node = &nodes_.front();
    while (!node->leaf()) {
        const bool below = value(node->tests) <= node->threshold;
        node = &nodes_[static_cast<std::size_t>(below ? node->below : node->above)];
    }
    return node->label;
}

int decision_tree::depth() const {
    std::vector<int> depths(nodes_.size(), 0);
    for (std::size_t k = nodes_.size(); k-- > 0;) {
        const tree_node& node = nodes_[k];
        if (!node.leaf())
            depths[k] = 1 + std::max(depths[static_cast<std::size_t>(node.below)],
                                     depths[static_cast<std::size_t>(node.above)]);
    }
    return depths.front();
}

} // namespace krylith::spmspv
