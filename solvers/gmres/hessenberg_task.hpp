// The tasks of GMRES on its Hessenberg matrix in kernel_context::array
// (vector/kernels/array_task.hpp).
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/solvers/gmres/delayed_hessenberg.hpp>

namespace krylith {

struct hessenberg_task {
    enum kind_of : std::uint8_t {
        rotate,          ///< takes in column `column`
        delayed,         ///< takes in column `column` - 1: delayed_hessenberg.hpp
        delayed_varying, ///< the same where K differs from step to step
        back_substitute  ///< solution() from the columns taken in
    };
    /// The scalars that slots[] refers to.
    enum role : std::uint8_t {
        start,    ///< in: squared norm of the cycle's first residual
        norm,     ///< in: squared norm of the new vector after orthogonalisation
        estimate, ///< out: squared residual norm of the least-squares problem
        columns,  ///< in/out: columns taken in
        inverse,  ///< out: 1 / norm of the new vector, 0 if it vanished
        lucky,    ///< out: 1 once a new vector has vanished: the space is complete
        role_count
    };

    kind_of kind;
    std::int32_t column;
    std::int32_t m;
    std::uint8_t slots[role_count] = {};

    template <class Team>
    KRYLITH_HD void operator()(double* array, double* scalars, const Team& team) const {
        switch (kind) {
        case rotate:
            if (team.index() == 0) rotate_in(array, scalars);
            break;
        case delayed:
        case delayed_varying:
            detail::delayed({column, m, kind == delayed_varying}, scalars[slots[start]],
                            array + hessenberg_layout{m}.first(), array, results(scalars), team);
            break;
        case back_substitute:
            if (team.index() == 0)
                detail::back_substitute({m}, static_cast<std::int64_t>(scalars[slots[columns]]),
                                        array);
            break;
        }
    }

private:
    [[nodiscard]] KRYLITH_HD hessenberg_results results(double* scalars) const {
        return {scalars[slots[estimate]], scalars[slots[columns]], scalars[slots[lucky]]};
    }

    /// Takes in column j = `column`, whose coefficients lie at first() and second().
    KRYLITH_HD void rotate_in(double* array, double* scalars) const {
        const hessenberg_layout at{m};
        const std::int64_t j = column;
        double* h = array + at.column(j);
        if (j == 0) array[at.rhs()] = ::sqrt(scalars[slots[start]]);
        for (std::int64_t i = 0; i <= j; ++i) h[i] = array[at.first() + i] + array[at.second() + i];
        const double before = array[at.first() + j + 1];
        const double after = scalars[slots[norm]];
        // What rounding leaves of a vector inside the space is no new direction.
        const bool vanished = after <= 1e-28 * before;
        h[j + 1] = vanished ? 0.0 : ::sqrt(after);
        scalars[slots[inverse]] = vanished ? 0.0 : 1.0 / h[j + 1];
        if (vanished) scalars[slots[lucky]] = 1.0;
        detail::take_in(at, j, array, results(scalars));
    }
};

} // namespace krylith
