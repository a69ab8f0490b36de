#include <krylith/graph/pagerank/chebyshev_weights.hpp>

#include <cmath>
#include <initializer_list>

#include <doctest/doctest.h>

namespace krylith {

TEST_CASE("chebyshev weights: residuals of every eigenvalue are the scaled polynomials") {
    for (const double radius : {0.1, 0.5, 0.85, 0.99}) {
        CAPTURE(radius);
        for (const double eigenvalue : {-radius, -0.3 * radius, 0.0, 0.7 * radius, radius}) {
            CAPTURE(eigenvalue);
            chebyshev_weights weights(radius);
            double residual = 1;
            double change = 0;
            for (int step = 1; step <= 20; ++step) {
                const double w = weights.next();
                change = w * residual + (w - 1) * change;
                residual += (eigenvalue - 1) * change;
                // T_k(eigenvalue / radius) / T_k(1 / radius)
                const double expected = std::cos(step * std::acos(eigenvalue / radius)) /
                                        std::cosh(step * std::acosh(1 / radius));
                CHECK(residual == doctest::Approx(expected).epsilon(1e-6).scale(1e-6));
            }
        }
        CHECK(chebyshev_weights(radius).rate() ==
              doctest::Approx(std::exp(-std::acosh(1 / radius))));
    }
    CHECK(chebyshev_weights(0).rate() == 0);
}

} // namespace krylith
