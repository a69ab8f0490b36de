// Which methods are worth a trial on a matrix, from its statistics alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/statistics.hpp>
#include <krylith/tools/info/matrix_class.hpp>

namespace krylith::tool {

/// Solver, preconditioner and side as `krylith solve` names them.
struct candidate {
    std::string solver;
    std::string preconditioner;
    std::string side = "right";
    int restart = 30;    ///< gmres
    std::string because; ///< why it is tried
};

struct candidates {
    std::vector<candidate> tried;      ///< simplest first: of equally fast ones the first is taken
    std::vector<std::string> left_out; ///< "cg: the matrix is not symmetric", one a line
};

/// The rules. A pure function: the same for equal statistics.
/// 1. cg where the matrix is symmetric with a positive diagonal and no entry proves it indefinite.
///    Where positive definiteness is proved, nothing else.
/// 2. Otherwise gmres(30) and bicgstab, and gmres(100) if the matrix has more than 30 rows.
/// 3. jacobi before none; no jacobi with a zero (or unbounded inverse) on the diagonal, or if all
///    its entries are equal, since that changes nothing.
/// 4. jacobi on the right, which works with the true residual. Where the diagonal spans more than
///    a factor of 100: also on the left, and split if it is positive, since these scale rows too.
[[nodiscard]] candidates choose_candidates(const matrix_statistics& s, const classification& kind);

/// "gmres(50) + jacobi (left)".
[[nodiscard]] std::string name_of(const candidate& c);

} // namespace krylith::tool
