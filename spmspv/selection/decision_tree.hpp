// A decision tree over features: a pure function, given by data. (CART, as scikit-learn grows it.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <krylith/spmspv/csr_csc_pair/matrix_features.hpp>

namespace krylith::spmspv {

/// Returns the value of a feature when a node asks for it: features that no node on the path reads
/// are never computed.
using feature_source = std::function<double(feature)>;

struct tree_node {
    feature tests = feature::rows;
    double threshold = 0;   ///< `below` where the value <= threshold, else `above`
    std::int32_t below = 0; ///< nodes by place; a child comes after its parent, or parents
    std::int32_t above = 0; ///< below = above = 0: a leaf
    std::int32_t label = 0; ///< that of a leaf
    [[nodiscard]] bool leaf() const noexcept { return below == 0; }
};

/// The reason why nodes are no tree.
struct tree_fault {
    std::size_t node = 0;
    std::string what; ///< "below is 7, must be 3 to 6"
};

/// Returns the first fault by nodes: no nodes at all, a child out of range or not behind its
/// parent, a label outside [0, labels), a threshold that is not finite. O(nodes).
[[nodiscard]] std::optional<tree_fault> find_fault(const std::vector<tree_node>& nodes,
                                                   std::int32_t labels);

class decision_tree {
public:
    /// Makes a tree. Throws input_error naming the node and what is wrong (find_fault).
    decision_tree(std::vector<tree_node> nodes, std::int32_t labels);
    /// Returns the label. O(depth), where each node on the path asks for one value.
    [[nodiscard]] std::int32_t operator()(const feature_source& value) const;
    [[nodiscard]] const std::vector<tree_node>& nodes() const noexcept { return nodes_; }
    /// The largest number of nodes that ask on one path: 0 for a single leaf.
    [[nodiscard]] int depth() const;

private:
    std::vector<tree_node> nodes_;
};

} // namespace krylith::spmspv
