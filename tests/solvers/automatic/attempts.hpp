// What tests of solve() share: what it has tried, and a matrix that most methods fail on.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/solvers/result.hpp>

#include <krylith/tests/support/matrices.hpp>

namespace krylith::testing {

/// "cg+jacobi", or all attempts.
[[nodiscard]] inline std::string tried(const solve_result& r) {
    std::string text;
    for (const solve_attempt& a : r.attempts) {
        text += (text.empty() ? "" : " ") + a.solver;
        if (a.preconditioner != "none") text += "+" + a.preconditioner;
    }
    return text;
}

/// Rows with neither sign on the diagonal and eigenvalues all round 0: a rotation in each pair of
/// rows, of another speed.
[[nodiscard]] inline csr_matrix<double> rotations(std::int64_t pairs) {
    triplets entries;
    for (std::int64_t k = 0; k < pairs; ++k) {
        const double speed = 1 + 0.01 * static_cast<double>(k);
        entries.emplace_back(2 * k, 2 * k + 1, speed);
        entries.emplace_back(2 * k + 1, 2 * k, -speed);
    }
    return from_triplets(2 * pairs, entries);
}

} // namespace krylith::testing
