// What a solver of a triangle does on its device, whatever the device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/sptrsv/level_slices.hpp>
#include <krylith/sparse/sptrsv/triangle_source.hpp>
#include <krylith/sparse/triangular_solver.hpp>

namespace krylith {

template <class T>
class triangle_solve {
public:
    virtual ~triangle_solve() = default;
    /// Enqueues solves for vectors 0..count-1, of which there are at most `together`.
    virtual void solve(const triangular_vectors<T>& v, int count) = 0;
    /// Takes the values as they are, and returns the first row whose diagonal is 0 or missing; -1
    /// where there is none.
    [[nodiscard]] virtual std::int64_t update() = 0;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;

    std::int64_t rows = 0;
    std::int64_t levels = 0;
    int together = 1;
    triangular_method method = triangular_method::rows;
    std::string reason;
};

KRYLITH_HOST_AND_CUDA(
    /// That of cuda is defined where KRYLITH_HAVE_CUDA is 1.
    template <class T> [[nodiscard]] std::unique_ptr<triangle_solve<T>> make_triangle_solve(
        const device_csr<T>& a, const triangular_options& options);)

} // namespace krylith
