// How good the choice of kernels is inside graph algorithms: before each product of a run all
// kernels are timed for its very operands (kernel_rehearsal.hpp), and what was chosen is compared
// with the fastest. (Figures 11 and 12 of Li, Ao, Yang 2020.)
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/graph/graph_contestant.hpp>

namespace krylith::bench {

/// A choice is right where its kernel takes at most so many times as long as the fastest.
inline constexpr double right_within = 1.05;

/// The contestant whose products are clocked and rehearsed in so many rounds.
[[nodiscard]] graph_contestant graph_oracle(int rounds);

/// Adds to the row what the runs of that contestant say of all their products: "products", "right"
/// and "strictly" (shares), "loss" (time of the kernels chosen over that of the fastest, less 1),
/// "losses" (by kernel, were it always taken), "parts_us" a product, and "by_step" of the first
/// run. There is at least one product.
[[nodiscard]] json judge_choices(const graph_timing& timing, json row);

/// A line of the table for such a row.
[[nodiscard]] std::string oracle_line(const json& row);

/// For each algorithm and device count the means of "right" and "loss" over the graphs.
[[nodiscard]] json oracle_summary(const std::vector<json>& rows);

} // namespace krylith::bench
