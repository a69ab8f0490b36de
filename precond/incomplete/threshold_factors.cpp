#include <krylith/precond/incomplete/threshold_factors.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <krylith/device/threads/interruption.hpp>

namespace krylith {

namespace {

constexpr double tiny_pivot = 1e-12;
constexpr double least_replacement = 1e-4;

/// One row while it is eliminated: values by column, and the columns that have one.
class working_row {
public:
    explicit working_row(std::size_t columns) : values_(columns, 0), held_(columns, false) {}

    void add(std::int32_t column, double value) {
        const auto at = static_cast<std::size_t>(column);
        values_[at] += value;
        if (held_[at]) return;
        held_[at] = true;
        if (column < diagonal_)
            below_.push(column);
        else if (column > diagonal_)
            above_.push_back(column);
    }

    /// Begins with another row, of which nothing but the diagonal has a place yet.
    void begin(std::int32_t diagonal) {
        diagonal_ = diagonal;
        above_.clear();
        held_[static_cast<std::size_t>(diagonal)] = true;
    }

    /// Takes the lowest column left of the diagonal, with its value; false where there is none.
    bool take_lowest(std::int32_t& column, double& value) {
        if (below_.empty()) return false;
        column = below_.top();
        below_.pop();
        value = take(column);
        return true;
    }

    /// Takes the value of a column, which is then free again.
    double take(std::int32_t column) {
        const auto at = static_cast<std::size_t>(column);
        held_[at] = false;
        return std::exchange(values_[at], 0.0);
    }

    [[nodiscard]] const std::vector<std::int32_t>& above() const { return above_; }

private:
    std::vector<double> values_;
    std::vector<bool> held_;
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> below_;
    std::vector<std::int32_t> above_; ///< columns right of the diagonal
    std::int32_t diagonal_ = 0;
};

using entry = std::pair<std::int32_t, double>; ///< a column and its value

/// Leaves the `most` largest, of equal ones those of the lowest columns, by ascending columns.
void keep_largest(std::vector<entry>& entries, std::size_t most) {
    if (entries.size() > most) {
        std::nth_element(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(most),
                         entries.end(), [](const entry& a, const entry& b) {
                             const double x = std::fabs(a.second);
                             const double y = std::fabs(b.second);
                             return x != y ? x > y : a.first < b.first;
                         });
        entries.resize(most);
    }
    std::sort(entries.begin(), entries.end(),
              [](const entry& a, const entry& b) { return a.first < b.first; });
}

class factorisation {
public:
    factorisation(const csr_view<double>& a, const row_matching& matching,
                  const threshold_rule& rule)
        : a_(a),
          matching_(matching),
          rule_(rule),
          row_(static_cast<std::size_t>(a.rows)),
          mean_(a.rows == 0 ? 0
                            : static_cast<double>(a.values.size()) / static_cast<double>(a.rows)) {
        for (csr_matrix<double>* one : {&made_.lower, &made_.upper}) {
            one->rows = one->columns = a.rows;
            one->row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
            one->row_offsets.assign(1, 0);
        }
        made_.replaced = 0;
    }

    [[nodiscard]] threshold_factors run() {
        const auto rows = static_cast<std::int32_t>(a_.rows);
        for (std::int32_t i = 0; i < rows; ++i) {
            if (i % 1024 == 0) interruption_point();
            eliminate(i);
        }
        take_scaling_back();
        return std::move(made_);
    }

private:
    /// Scatters the row that becomes row i; returns its mean magnitude.
    double scatter(std::int32_t i, std::size_t& entries) {
        const auto source = static_cast<std::size_t>(matching_.row_at[static_cast<std::size_t>(i)]);
        const auto begin = static_cast<std::size_t>(a_.row_offsets[source]);
        const auto end = static_cast<std::size_t>(a_.row_offsets[source + 1]);
        double sum = 0;
        for (std::size_t k = begin; k < end; ++k) {
            const std::int32_t column = a_.column_indices[k];
            const double value = std::ldexp(
                a_.values[k], matching_.row_exponent[source] +
                                  matching_.column_exponent[static_cast<std::size_t>(column)]);
            sum += std::fabs(value);
            row_.add(column, value);
        }
        entries = end - begin;
        return entries == 0 ? 0 : sum / static_cast<double>(entries);
    }

    void eliminate(std::int32_t i) {
        std::size_t entries = 0;
        row_.begin(i);
        const double size = scatter(i, entries);
        const double least = rule_.drop * size;
        const std::size_t most =
            std::max(entries, static_cast<std::size_t>(std::ceil(rule_.fill * mean_)));

        multipliers_.clear();
        std::int32_t k = 0;
        double value = 0;
        while (row_.take_lowest(k, value)) {
            if (value == 0 || std::fabs(value) < least) continue;
            const auto begin = static_cast<std::size_t>(made_.upper.row_offsets[as_size(k)]);
            const auto end = static_cast<std::size_t>(made_.upper.row_offsets[as_size(k) + 1]);
            const double factor = value / made_.upper.values[begin];
            multipliers_.push_back({k, factor});
            for (std::size_t at = begin + 1; at < end; ++at)
                row_.add(made_.upper.column_indices[at], -factor * made_.upper.values[at]);
        }
        keep_largest(multipliers_, most);
        multipliers_.push_back({i, 1.0});
        append(made_.lower, multipliers_);

        kept_.clear();
        for (const std::int32_t column : row_.above()) {
            const double other = row_.take(column);
            if (other != 0 && !(std::fabs(other) < least)) kept_.push_back({column, other});
        }
        keep_largest(kept_, most);
        kept_.insert(kept_.begin(), {i, pivot(row_.take(i), size)});
        append(made_.upper, kept_);
    }

    double pivot(double value, double size) {
        if (!(std::fabs(value) <= tiny_pivot * size)) return value;
        ++made_.replaced;
        if (size == 0) return 1;
        return std::copysign((least_replacement + rule_.drop) * size, value);
    }

    static std::size_t as_size(std::int32_t i) { return static_cast<std::size_t>(i); }

    static void append(csr_matrix<double>& to, const std::vector<entry>& row) {
        for (const auto& [column, value] : row) {
            to.column_indices.push_back(column);
            to.values.push_back(value);
        }
        to.row_offsets.push_back(static_cast<std::int64_t>(to.values.size()));
    }

    /// L U = P R A C becomes that of P A: rows of L lose R, columns of U lose C.
    void take_scaling_back() {
        for (std::size_t i = 0; i < static_cast<std::size_t>(a_.rows); ++i) {
            const int exponent =
                -matching_.row_exponent[static_cast<std::size_t>(matching_.row_at[i])];
            for (std::int64_t k = made_.lower.row_offsets[i]; k < made_.lower.row_offsets[i + 1];
                 ++k) {
                double& value = made_.lower.values[static_cast<std::size_t>(k)];
                value = std::ldexp(value, exponent);
            }
        }
        for (std::size_t k = 0; k < made_.upper.values.size(); ++k)
            made_.upper.values[k] =
                std::ldexp(made_.upper.values[k],
                           -matching_.column_exponent[as_size(made_.upper.column_indices[k])]);
    }

    csr_view<double> a_;
    const row_matching& matching_;
    threshold_rule rule_;
    working_row row_;
    double mean_; ///< entries of a row
    std::vector<entry> multipliers_;
    std::vector<entry> kept_;
    threshold_factors made_;
};

} // namespace

threshold_factors factor_by_threshold(const csr_view<double>& a, const row_matching& matching,
                                      const threshold_rule& rule) {
    return factorisation(a, matching, rule).run();
}

} // namespace krylith
