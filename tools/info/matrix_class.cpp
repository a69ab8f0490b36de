#include <krylith/tools/info/matrix_class.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <krylith/tools/solve/failure_advice.hpp>

namespace krylith::tool {

namespace {

std::string plural(std::int64_t count, const char* thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

bool all_row_sums_vanish(const matrix_statistics& s) {
    return s.rows > 0 && s.values.zero_row_sums == s.rows;
}

classification symmetric_class(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    const std::string start = "symmetric, ";
    if (d.positive == s.rows) {
        if (s.indefinite_at)
            return {matrix_class::indefinite,
                    fmt::format("{}positive diagonal, but not positive definite: entry ({}, {}) is "
                                "{:g}, too large for its diagonal entries",
                                start, s.indefinite_at->row + 1, s.indefinite_at->column + 1,
                                s.indefinite_at->here),
                    {}};
        if (d.weakly_dominant < s.rows)
            return {matrix_class::positive_candidate,
                    "SPD candidate: symmetric, positive diagonal, not dominant in all rows",
                    {}};
        if (d.strictly_dominant == s.rows)
            return {matrix_class::positive_definite,
                    "SPD: symmetric, positive diagonal, strictly dominant",
                    {}};
        if (all_row_sums_vanish(s))
            return {matrix_class::positive_semidefinite,
                    "positive semidefinite, singular: symmetric, positive diagonal, weakly "
                    "dominant, all row sums are 0",
                    {}};
        if (d.strictly_dominant == 0)
            return {
                matrix_class::positive_candidate,
                "positive semidefinite at least: symmetric, positive diagonal, weakly dominant, "
                "strictly in no row",
                {}};
        return {matrix_class::positive_definite,
                fmt::format("SPD: symmetric, positive diagonal, weakly dominant, strictly in {} "
                            "(if these reach all parts of the matrix)",
                            plural(d.strictly_dominant, "row")),
                {}};
    }
    if (d.negative == s.rows)
        return {matrix_class::negative_candidate,
                "negative definite candidate: symmetric, negative diagonal; -A may suit cg",
                {}};
    if (d.positive > 0 && d.negative > 0)
        return {matrix_class::indefinite,
                fmt::format("{}indefinite: {} positive and {} negative on the diagonal", start,
                            d.positive, d.negative),
                {}};
    if (s.lengths.empty == 0)
        return {matrix_class::indefinite,
                fmt::format("{}not definite: {} on the diagonal", start,
                            plural(d.missing + d.zeros, "zero")),
                {}};
    return {matrix_class::indefinite, start + "not definite: there are empty rows", {}};
}

void add_hints(const matrix_statistics& s, std::vector<std::string>& hints) {
    if (s.values.not_finite > 0)
        hints.push_back(fmt::format("{} not finite: no solver can use them",
                                    s.values.not_finite == 1
                                        ? "1 value is"
                                        : fmt::format("{} values are", s.values.not_finite)));
    if (!s.square() || s.rows == 0) return;
    if (s.lengths.empty > 0 || s.empty_columns > 0)
        hints.push_back(fmt::format("structurally singular: {}, {}",
                                    plural(s.lengths.empty, "empty row"),
                                    plural(s.empty_columns, "empty column")));
    if (all_row_sums_vanish(s))
        hints.push_back(
            "singular: every row sums to 0, so A times ones is 0; A x = b has solutions "
            "only for some b");
    if (s.diagonal.has_zeros())
        hints.push_back(fmt::format("{} on the diagonal ({} of them not stored): jacobi can't be "
                                    "used",
                                    plural(s.diagonal.missing + s.diagonal.zeros, "zero"),
                                    s.diagonal.missing));
    const double largest = std::max(std::fabs(s.diagonal.least), std::fabs(s.diagonal.most));
    if (s.diagonal.smallest > 0 && largest > 1e4 * s.diagonal.smallest)
        hints.push_back(fmt::format("diagonal entries differ by a factor of {:.1g}: jacobi, if it "
                                    "can be used, evens that out",
                                    largest / s.diagonal.smallest));
}

} // namespace

classification classify(const matrix_statistics& s) {
    classification result;
    if (!s.square())
        result = {matrix_class::no_system, "rectangular: not a system to solve", {}};
    else if (s.values.not_finite > 0)
        result = {matrix_class::no_system, "not a system to solve: NaN or infinite values", {}};
    else if (s.rows == 0)
        result = {matrix_class::positive_definite, "without rows: nothing to solve", {}};
    else if (s.symmetry->by_values())
        result = symmetric_class(s);
    else if (s.symmetry->negated_values == s.symmetry->off_diagonal &&
             s.diagonal.positive + s.diagonal.negative == 0)
        result = {matrix_class::skew, "skew-symmetric: A' = -A", {}};
    else
        result = {matrix_class::nonsymmetric,
                  fmt::format("nonsymmetric{}: {}",
                              s.symmetry->by_pattern() ? " (its pattern is symmetric)" : "",
                              in_words(*s.symmetry->first_difference)),
                  {}};
    add_hints(s, result.hints);
    return result;
}

const char* to_string(matrix_class what) noexcept {
    switch (what) {
    case matrix_class::no_system: return "no_system";
    case matrix_class::positive_definite: return "positive_definite";
    case matrix_class::positive_semidefinite: return "positive_semidefinite";
    case matrix_class::positive_candidate: return "positive_candidate";
    case matrix_class::negative_candidate: return "negative_candidate";
    case matrix_class::indefinite: return "indefinite";
    case matrix_class::skew: return "skew";
    case matrix_class::nonsymmetric: return "nonsymmetric";
    }
    return "unknown";
}

} // namespace krylith::tool
