// Decision trees: the path through them, the features that they ask for, and nodes that are no
// tree.
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/spmspv/selection/decision_tree.hpp>

namespace krylith::spmspv {

namespace {

tree_node split(feature tests, double threshold, int below, int above) {
    return {tests, threshold, below, above, 0};
}

tree_node leaf(int label) {
    return {feature::rows, 0, 0, 0, label};
}

/// A tree that asks for density first, and for effective nonzeros only where x is sparse.
std::vector<tree_node> two_levels() {
    return {split(feature::density, 0.5, 1, 2), split(feature::effective_nonzeros, 100, 3, 4),
            leaf(0), leaf(1), leaf(2)};
}

std::string fault_of(std::vector<tree_node> nodes, int labels = 3) {
    try {
        const decision_tree tree(std::move(nodes), labels);
    } catch (const input_error& e) {
        return e.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("decision tree: the threshold itself is below") {
    const decision_tree tree(two_levels(), 3);
    const auto label = [&](double density, double effective) {
        return tree([&](feature f) { return f == feature::density ? density : effective; });
    };
    CHECK(label(0.6, 0) == 0);
    CHECK(label(0.5, 100) == 1);
    CHECK(label(0.5, 100.5) == 2);
    CHECK(label(0, 0) == 1);
    CHECK(tree.depth() == 2);
    CHECK(decision_tree({leaf(0)}, 1).depth() == 0);
}

TEST_CASE("decision tree: asks only for what the way leads to, once a node") {
    const decision_tree tree(two_levels(), 3);
    std::vector<feature> asked;
    const auto dense = [&](feature f) {
        asked.push_back(f);
        return 1.0;
    };
    CHECK(tree(dense) == 0);
    CHECK(asked == std::vector<feature>{feature::density});
    asked.clear();
    CHECK(tree([&](feature f) {
              asked.push_back(f);
              return 0.0;
          }) == 1);
    CHECK(asked == std::vector<feature>{feature::density, feature::effective_nonzeros});
    CHECK(decision_tree({leaf(2)}, 3)([](feature) -> double { throw "asked"; }) == 2);
}

TEST_CASE("decision tree: a value that is not a number goes above") {
    const decision_tree tree({split(feature::gini, 0, 1, 2), leaf(0), leaf(1)}, 2);
    CHECK(tree([](feature) { return std::numeric_limits<double>::quiet_NaN(); }) == 1);
}

TEST_CASE("decision tree: what is no tree is refused, naming the node") {
    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(fault_of({}) == "decision tree, node 0: there are no nodes, must be at least 1");
    CHECK(fault_of({leaf(3)}) == "decision tree, node 0: label is 3, must be 0 to 2");
    CHECK(fault_of({leaf(-1)}) == "decision tree, node 0: label is -1, must be 0 to 2");
    CHECK(fault_of({split(feature::rows, 1, 1, 3), leaf(0), leaf(0)}) ==
          "decision tree, node 0: above is 3, must be 1 to 2");
    CHECK(fault_of({split(feature::rows, 1, -1, 1), leaf(0)}) ==
          "decision tree, node 0: below is -1, must be 1 to 1");
    CHECK(fault_of({split(feature::rows, 1, 1, 2), split(feature::rows, 1, 1, 2), leaf(0)}) ==
          "decision tree, node 1: below is 1, must be 2 to 2");
    CHECK(fault_of({split(feature::rows, 1, 1, 2), leaf(0), split(feature::rows, 1, 0, 1)}) ==
          "decision tree, node 2: below is 0, must be a node behind this one, and there is none");
    CHECK(fault_of({split(feature::rows, infinite, 1, 2), leaf(0), leaf(0)}) ==
          "decision tree, node 0: threshold is inf, must be finite");
    CHECK(fault_of({split(static_cast<feature>(99), 1, 1, 2), leaf(0), leaf(0)}) ==
          "decision tree, node 0: feature is 99, must be 0 to 19");
    CHECK(fault_of(two_levels()) == "accepted");
}

} // namespace krylith::spmspv
