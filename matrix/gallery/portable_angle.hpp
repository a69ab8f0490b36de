// Cosine and sine whose bits are the same on every machine: those of the C library may differ in
// the last one from system to system.
#pragma once

#include <cmath>
#include <numbers>

namespace krylith {

struct direction {
    double cosine;
    double sine;
};

/// The cosine and sine of an angle in degrees, within some 1e-16; exact at multiples of 90. It is
/// Taylor's series about the nearest of these, where |x| <= pi / 4: x^21 / 21! < 1e-21.
[[nodiscard]] inline direction direction_of(double degrees) {
    const double quarters = std::nearbyint(degrees / 90);
    const double x = (degrees - 90 * quarters) * (std::numbers::pi / 180);
    double cosine = 1;
    double sine = 1;
    for (int k = 20; k >= 2; k -= 2) { // Horner's scheme
        cosine = 1 - cosine * (x * x) / (k * (k - 1));
        sine = 1 - sine * (x * x) / (k * (k + 1));
    }
    sine *= x;
    switch (static_cast<int>(quarters) & 3) {
    case 0: return {cosine, sine};
    case 1: return {-sine, cosine};
    case 2: return {-cosine, -sine};
    default: return {sine, -cosine};
    }
}

} // namespace krylith
