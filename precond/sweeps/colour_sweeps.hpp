// Sweeps of Gauss and Seidel's method over the colours of a matrix, over the devices of a group.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krylith/precond/colouring/row_colours.hpp>
#include <krylith/precond/sweeps/sweep_rows.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::detail {

/// With A = L + D + U in the order of colours, z = (D / omega + L)^-1 r, and in symmetric sweeps
/// z = (D / omega + U)^-1 (2 / omega - 1) D (D / omega + L)^-1 r. Each rank has its rows' entries
/// twice at most: those of L in colour order, and those of U. After each colour ghosts are
/// exchanged, so that z is the same on any number of devices.
template <class T>
class colour_sweeps {
public:
    /// `rows` says who owns which rows, as owned vectors. Rows of A ascend. Waits for the devices.
    /// Collective.
    colour_sweeps(const layout& rows, const distributed_csr<T>& a, double omega, bool symmetric);

    /// Takes values of the constructor's pattern, which is also how the first ones come. Waits for
    /// the devices. Collective. Throws input_error, and changes nothing, where a diagonal entry has
    /// no finite inverse; `rows` knows the caller's numbers of rows.
    void take(const layout& rows, const distributed_csr<T>& a);

    /// Enqueues the sweeps, which leave z in result(). r is any vector with these rows, from
    /// first_owned() of its layout on.
    void run(execution& run, const vector<T>& r);
    /// z, in owned parts.
    [[nodiscard]] const vector<T>& result() const noexcept { return *v_; }

    [[nodiscard]] int colours() const noexcept { return colours_.count(); }
    [[nodiscard]] int kernels() const noexcept;
    /// The bytes on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const;

private:
    struct direction {
        buffer<std::int64_t> offsets;
        buffer<std::int32_t> columns; ///< local
        buffer<T> values;
    };
    void make_direction(const distributed_csr<T>& a, int rank, bool forward);
    [[nodiscard]] std::vector<direction>& entries(bool forward) {
        return forward ? lower_ : upper_;
    }
    void sweep(execution& run, int colour, bool forward);

    layout_handle layout_;
    T omega_;
    bool symmetric_;
    row_colours colours_;
    std::vector<direction> lower_; ///< [ranks]
    std::vector<direction> upper_;
    std::optional<vector<T>> start_; ///< factors of r
    std::optional<vector<T>> v_;
};

} // namespace krylith::detail
