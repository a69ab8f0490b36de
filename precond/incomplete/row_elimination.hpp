// The elimination of all rows of a block, on its device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/config.hpp>
#include <krylith/device/device.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/precond/incomplete/eliminate_row.hpp>

namespace krylith::incomplete {

/// What is known of a pattern, for any number of factorisations.
template <class T>
class row_elimination {
public:
    virtual ~row_elimination() = default;
    /// Enqueues the elimination of all rows of the pattern. It neither waits nor allocates.
    virtual void run(const factor_rows<T>& a) = 0;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

namespace host {

template <class T>
[[nodiscard]] std::unique_ptr<row_elimination<T>>
make_elimination(const std::shared_ptr<device>& device, const factor_rows<T>& a);
template <class T>
[[nodiscard]] std::int64_t count_levels(const std::shared_ptr<device>& device,
                                        const factor_rows<T>& a);

} // namespace host

namespace cuda {

/// Defined where KRYLITH_HAVE_CUDA is 1.
template <class T>
[[nodiscard]] std::unique_ptr<row_elimination<T>>
make_elimination(const std::shared_ptr<device>& device, const factor_rows<T>& a,
                 std::span<const std::int64_t> colours);
template <class T>
[[nodiscard]] std::int64_t count_levels(const std::shared_ptr<device>& device,
                                        const factor_rows<T>& a);

} // namespace cuda

/// Analyses the pattern of `a`, whose values are not read. `colours` are the first places of rows
/// that don't depend on each other, and the number of rows; empty where no such places are known:
/// each row then waits for those that it depends on. Waits for the device.
template <class T>
[[nodiscard]] std::unique_ptr<row_elimination<T>>
make_elimination(const std::shared_ptr<device>& device, const factor_rows<T>& a,
                 [[maybe_unused]] std::span<const std::int64_t> colours) {
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda) return cuda::make_elimination(device, a, colours);
#endif
    return host::make_elimination(device, a);
}

/// Returns the levels of the lower triangle (sparse/triangular_solver.hpp). Waits for the device.
template <class T>
[[nodiscard]] std::int64_t count_levels(const std::shared_ptr<device>& device,
                                        const factor_rows<T>& a) {
    return KRYLITH_ON(*device, count_levels(device, a));
}

} // namespace krylith::incomplete
