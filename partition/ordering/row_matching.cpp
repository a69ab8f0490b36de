#include <krylith/partition/ordering/row_matching.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

namespace krylith {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::int32_t none = -1;

/// Costs are c_ij = log2(max_k |a_kj|) - log2 |a_ij|. Of an optimal matching there are duals with
/// c_ij - row_dual_i - column_dual_j >= 0, and 0 where i is matched with j.
class matcher {
public:
    explicit matcher(const csr_view<double>& a)
        : a_(a),
          rows_(static_cast<std::size_t>(a.rows)),
          log_largest_(rows_, -infinite),
          row_dual_(rows_, 0),
          column_dual_(rows_, 0),
          column_of_(rows_, none),
          row_of_(rows_, none),
          distance_(rows_, infinite),
          from_(rows_, none),
          done_(rows_, false) {
        for (std::size_t k = 0; k < a.values.size(); ++k) {
            double& largest = log_largest_[column(k)];
            largest = std::max(largest, log_of(k));
        }
    }

    [[nodiscard]] row_matching run() {
        match_cheaply();
        for (std::size_t row = 0; row < rows_; ++row)
            if (column_of_[row] == none) augment(row);
        row_matching result{{}, std::vector<int>(rows_, 0), std::vector<int>(rows_, 0), 0};
        for (std::size_t i = 0; i < rows_; ++i) {
            result.row_exponent[i] = rounded(row_dual_[i]);
            result.column_exponent[i] =
                log_largest_[i] == -infinite ? 0 : rounded(column_dual_[i] - log_largest_[i]);
        }
        result.matched = static_cast<std::int64_t>(rows_) -
                         std::count(column_of_.begin(), column_of_.end(), none);
        fill_the_rest();
        result.row_at = std::move(row_of_);
        return result;
    }

private:
    [[nodiscard]] static int rounded(double exponent) {
        return static_cast<int>(std::lround(exponent));
    }
    [[nodiscard]] std::size_t column(std::size_t k) const {
        return static_cast<std::size_t>(a_.column_indices[k]);
    }
    /// -infinite for an entry that doesn't count.
    [[nodiscard]] double log_of(std::size_t k) const {
        const double magnitude = std::fabs(a_.values[k]);
        return magnitude > 0 && magnitude < infinite ? std::log2(magnitude) : -infinite;
    }
    [[nodiscard]] double cost(std::size_t k) const {
        const double log = log_of(k);
        return log == -infinite ? infinite : log_largest_[column(k)] - log;
    }
    [[nodiscard]] double reduced(std::size_t row, std::size_t k) const {
        return cost(k) - row_dual_[row] - column_dual_[column(k)];
    }
    [[nodiscard]] std::pair<std::size_t, std::size_t> entries(std::size_t row) const {
        return {static_cast<std::size_t>(a_.row_offsets[row]),
                static_cast<std::size_t>(a_.row_offsets[row + 1])};
    }

    /// Each row takes a free column among those that are cheapest for it.
    void match_cheaply() {
        for (std::size_t row = 0; row < rows_; ++row) {
            const auto [begin, end] = entries(row);
            double least = infinite;
            for (std::size_t k = begin; k < end; ++k) least = std::min(least, cost(k));
            if (least == infinite) continue;
            row_dual_[row] = least;
            for (std::size_t k = begin; k < end && column_of_[row] == none; ++k)
                if (cost(k) == least && row_of_[column(k)] == none) match(row, column(k));
        }
    }

    void match(std::size_t row, std::size_t at) {
        column_of_[row] = static_cast<std::int32_t>(at);
        row_of_[at] = static_cast<std::int32_t>(row);
    }

    /// Finds the shortest alternating path from the row to a free column, and matches along it.
    void augment(std::size_t start) {
        std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
        std::vector<std::size_t> reached;
        std::vector<std::size_t> finished;
        double shortest = infinite;
        std::size_t last = rows_;
        std::size_t row = start;
        double base = 0;
        for (;;) {
            const auto [begin, end] = entries(row);
            for (std::size_t k = begin; k < end; ++k) {
                const std::size_t to = column(k);
                const double length = base + std::max(0.0, reduced(row, k));
                if (done_[to] || !(length < distance_[to]) || !(length < shortest)) continue;
                if (distance_[to] == infinite) reached.push_back(to);
                distance_[to] = length;
                from_[to] = static_cast<std::int32_t>(row);
                if (row_of_[to] == none) {
                    shortest = length;
                    last = to;
                } else {
                    queue.push({length, static_cast<std::int32_t>(to)});
                }
            }
            while (!queue.empty() && done_[static_cast<std::size_t>(queue.top().second)])
                queue.pop();
            if (queue.empty() || queue.top().first >= shortest) break;
            const auto next = static_cast<std::size_t>(queue.top().second);
            queue.pop();
            done_[next] = true;
            finished.push_back(next);
            row = static_cast<std::size_t>(row_of_[next]);
            base = distance_[next];
        }
        if (last != rows_) {
            for (const std::size_t j : finished) {
                const double change = shortest - distance_[j];
                column_dual_[j] -= change;
                row_dual_[static_cast<std::size_t>(row_of_[j])] += change;
            }
            row_dual_[start] += shortest;
            for (std::size_t at = last;;) {
                const auto by = static_cast<std::size_t>(from_[at]);
                const std::int32_t before = column_of_[by];
                match(by, at);
                if (by == start) break;
                at = static_cast<std::size_t>(before);
            }
        }
        for (const std::size_t j : reached) {
            distance_[j] = infinite;
            done_[j] = false;
        }
    }

    void fill_the_rest() {
        std::size_t at = 0;
        for (std::size_t row = 0; row < rows_; ++row) {
            if (column_of_[row] != none) continue;
            while (row_of_[at] != none) ++at;
            row_of_[at] = static_cast<std::int32_t>(row);
        }
    }

    using entry = std::pair<double, std::int32_t>; ///< a distance, and the column that has it

    csr_view<double> a_;
    std::size_t rows_;
    std::vector<double> log_largest_; ///< of each column
    std::vector<double> row_dual_;
    std::vector<double> column_dual_;
    std::vector<std::int32_t> column_of_; ///< of a row, or none
    std::vector<std::int32_t> row_of_;    ///< of a column, or none
    std::vector<double> distance_;        ///< of columns
    std::vector<std::int32_t> from_;      ///< the row before a column on its path
    std::vector<bool> done_;
};

} // namespace

bool row_matching::moves() const {
    for (std::size_t i = 0; i < row_at.size(); ++i)
        if (row_at[i] != static_cast<std::int32_t>(i)) return true;
    return false;
}

row_matching match_rows(const csr_view<double>& a) {
    return matcher(a).run();
}

row_matching rows_as_they_are(std::int64_t rows) {
    const auto n = static_cast<std::size_t>(rows);
    row_matching result{std::vector<std::int32_t>(n), std::vector<int>(n, 0),
                        std::vector<int>(n, 0), rows};
    std::iota(result.row_at.begin(), result.row_at.end(), 0);
    return result;
}

} // namespace krylith
