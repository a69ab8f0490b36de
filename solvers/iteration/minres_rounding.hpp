// What rounding allows MINRES, alone and for several right-hand sides.
#pragma once

#include <limits>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

struct minres_rounding {
    /// An ||A r|| of so much of ||A|| ||r|| is 0: Lanczos vectors that have lost orthogonality
    /// leave hundreds of rounding errors of double, measured on singular systems.
    double vanishes;
    /// A step s of x whose ||A|| ||s|| has so much of ||r|| is not taken: what rounding adds to
    /// b - A x may be as large as r. On singular systems such steps go along the null space, which
    /// Lanczos vectors enter by rounding errors. ||s|| is reckoned from ||w||, and that from the
    /// recurrence of w, whose new Lanczos vector is orthogonal to the w before.
    double outweighs;

    KRYLITH_HD static constexpr minres_rounding of(int value_bytes) {
        constexpr double fp64 = std::numeric_limits<double>::epsilon();
        constexpr auto fp32 = static_cast<double>(std::numeric_limits<float>::epsilon());
        return value_bytes == 8 ? minres_rounding{2000 * fp64, 0.01 / fp64}
                                : minres_rounding{16 * fp32, 0.25 / fp32};
    }
};

} // namespace krylith
