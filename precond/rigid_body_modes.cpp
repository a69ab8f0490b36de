#include <krylith/precond/rigid_body_modes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

void check_coordinates(std::span<const double> coordinates, int dimension) {
    if (dimension < 1 || dimension > 3)
        throw usage_error("rigid_body_modes: the dimension is " + std::to_string(dimension) +
                          "; allowed are 1 to 3");
    const auto axes = static_cast<std::size_t>(dimension);
    if (coordinates.size() % axes != 0)
        throw usage_error("rigid_body_modes: there are " + std::to_string(coordinates.size()) +
                          " coordinates; must be " + std::to_string(dimension) + " for each node");
    for (std::size_t i = 0; i < coordinates.size(); ++i)
        if (!std::isfinite(coordinates[i]))
            throw usage_error("rigid_body_modes: coordinate " + std::to_string(i % axes) +
                              " of node " + std::to_string(i / axes) + " (counted from 0) is " +
                              number_text(coordinates[i]) + "; it must be finite");
}

/// Coordinates from the middle of the box around the nodes, in units of its largest side.
std::vector<double> from_middle(std::span<const double> coordinates, std::size_t axes) {
    std::array<double, 3> middle{};
    double size = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        double least = coordinates[axis];
        double most = least;
        for (std::size_t i = axis; i < coordinates.size(); i += axes) {
            least = std::min(least, coordinates[i]);
            most = std::max(most, coordinates[i]);
        }
        middle[axis] = least / 2 + most / 2;
        size = std::max(size, most / 2 - least / 2);
    }
    std::vector<double> result(coordinates.begin(), coordinates.end());
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = size > 0 ? (result[i] - middle[i % axes]) / size : 0;
    return result;
}

double inner(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// Appends a vector, made orthogonal to those that are there and of norm 1, unless it depends on
/// them.
void append(std::vector<double>& modes, std::vector<double> v) {
    constexpr double dependent = 1e-12;
    const double size = std::sqrt(inner(v, v));
    for (int again = 0; again < 2; ++again)
        for (std::size_t begin = 0; begin < modes.size(); begin += v.size()) {
            const std::span<const double> mode(modes.data() + begin, v.size());
            const double along = inner(mode, v);
            for (std::size_t i = 0; i < v.size(); ++i) v[i] -= along * mode[i];
        }
    const double rest = std::sqrt(inner(v, v));
    if (!(rest > dependent * size)) return;
    for (double& x : v) x /= rest;
    modes.insert(modes.end(), v.begin(), v.end());
}

} // namespace

std::vector<double> rigid_body_modes(std::span<const double> coordinates, int dimension) {
    check_coordinates(coordinates, dimension);
    std::vector<double> modes;
    if (coordinates.empty()) return modes;
    const auto axes = static_cast<std::size_t>(dimension);
    const std::vector<double> x = from_middle(coordinates, axes);
    const std::vector<double> zeros(x.size());
    for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<double> shift = zeros;
        for (std::size_t i = axis; i < x.size(); i += axes) shift[i] = 1;
        append(modes, std::move(shift));
    }
    for (std::size_t p = 0; p < axes; ++p)
        for (std::size_t q = p + 1; q < axes; ++q) { // turns in the plane of two axes
            std::vector<double> turn = zeros;
            for (std::size_t i = 0; i < x.size(); i += axes) {
                turn[i + p] = -x[i + q];
                turn[i + q] = x[i + p];
            }
            append(modes, std::move(turn));
        }
    return modes;
}

} // namespace krylith
