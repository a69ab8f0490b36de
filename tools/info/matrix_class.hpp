// What kind of matrix it is, as far as its entries tell: what a solver needs to know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/statistics.hpp>

namespace krylith::tool {

enum class matrix_class {
    no_system,             ///< not square, or not finite
    positive_definite,     ///< symmetric, positive and dominant diagonal: proved, if irreducible
    positive_semidefinite, ///< the same with zero row sums: singular
    positive_candidate,    ///< symmetric, positive diagonal: definite or not, the entries don't say
    negative_candidate,    ///< symmetric, negative diagonal: -A is a positive_candidate
    indefinite,            ///< symmetric, and proved neither positive nor negative definite
    skew,                  ///< A' = -A
    nonsymmetric
};

struct classification {
    matrix_class what = matrix_class::nonsymmetric;
    std::string words;              ///< "SPD: symmetric, positive diagonal, weakly dominant"
    std::vector<std::string> hints; ///< why it may be singular or hard, one a line
};

[[nodiscard]] classification classify(const matrix_statistics& s);
[[nodiscard]] const char* to_string(matrix_class what) noexcept;

} // namespace krylith::tool
