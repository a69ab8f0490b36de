// Solves with the lower or the upper triangle of a matrix on one device: forward and backward
// substitution, as incomplete factors, Gauss-Seidel and SOR need them.
//
//     triangular_solver<double> lower(
//         lu, {.part = triangle_part::lower, .diagonal = triangle_diagonal::unit});
//     triangular_solver<double> upper(lu, {.part = triangle_part::upper});
//     lower.solve(r, z);
//     upper.solve(z, z);
//
// Solves are enqueued, may be recorded, and may be in place.
//
// A row is solved when those that it refers to are. The *level* of a row is the length of the
// longest such chain below it, so at best a solve takes as many steps as there are levels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <krylith/device/memory/unmoved.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith {

template <class T>
class triangle_solve;

/// Which entries count, beside the diagonal. Those of the other triangle are ignored, so both
/// factors of an incomplete factorisation may lie in one matrix.
enum class triangle_part { lower, upper };

enum class triangle_diagonal {
    stored, ///< the entries (i, i), none of which may be 0 or missing
    unit    ///< 1, whatever is stored
};

enum class triangular_method {
    automatic, ///< by the number of levels and of rows in them; `levels` on CUDA devices
    rows,      ///< rows in their own order; hardly an analysis, no copy of it on CUDA devices
    levels     ///< rows sorted by level, in an array of their own
};

[[nodiscard]] const char* to_string(triangular_method method) noexcept;

struct triangular_options {
    triangle_part part = triangle_part::lower;
    triangle_diagonal diagonal = triangle_diagonal::stored;
    triangular_method method = triangular_method::automatic;
    /// The right-hand sides of a solve that are taken together: 1 to 4. More are solved one group
    /// after the other. On CUDA devices a solver keeps 2 words a row for each of them.
    int together = 1;
    /// What the caller knows of the pattern, for one call: the first rows of ranges, and the number
    /// of rows. Rows of a range depend on rows of lower ranges alone (upper triangle: of higher
    /// ones), as those of a colour do. On CUDA devices `automatic` and `levels` then solve wide
    /// ranges of short rows one after the other, and look for no levels: one pass over the pattern
    /// tells whether the ranges are true of it. Where not, levels are found. Hosts don't use it.
    std::span<const std::int64_t> ranges = {};
};

/// Solves T x = b, T being a triangle of a matrix. The analysis is the constructor's, and depends
/// on the pattern and the options alone.
///
/// Work: each strict entry is multiplied once, and each row divided by its diagonal. Sums are taken
/// in an order that depends on these only, so results repeat bit for bit; on CUDA devices those of
/// rows with more than 24 entries are split over several lanes, and products are fused.
/// NaN and infinities go where arithmetic takes them.
///
/// Rows may be unsorted, and may hold a column several times: such entries add up.
///
/// Memory beside the matrix, as bytes() says: with `levels` the entries of the triangle again (on
/// CUDA devices padded to the longest of 32 rows of similar length), and in fp64 8 to 28 bytes a
/// row; on CUDA devices 16 more for each further vector of `together`. The analysis needs about 40
/// bytes a row more while it runs there.
///
/// Source: synchronisation-free solves (W. Liu, A. Li, J. Hogg, I. Duff, B. Vinter, Euro-Par 2016
/// and CCPE 2017), in the form where rows wait for words of x, so that no sum needs atomics; level
/// sets (E. Anderson, Y. Saad, Int. J. High Speed Comput. 1, 1989).
template <class T>
class triangular_solver {
public:
    /// Analyses the triangle of `a`, whose arrays must outlive the solver and its pattern stay. It
    /// waits for the device. Throws input_error where `a` isn't square, and where the diagonal is
    /// stored and has a 0 or lacks an entry, naming the first such row; usage_error for options
    /// out of range, and for ranges that descend or are not of these rows.
    explicit triangular_solver(const device_csr<T>& a, const triangular_options& options = {});
    triangular_solver(triangular_solver&&) noexcept;
    triangular_solver& operator=(triangular_solver&&) noexcept;
    ~triangular_solver();

    /// Enqueues the solve of T x = b. `b` and `x` are [rows()] on the device; they may be the same.
    /// It neither waits nor allocates, and may be recorded in a loop; several solves of one solver
    /// run one after the other, as those of a stream do.
    void solve(const T* b, T* x);
    /// Solves for `count` right-hand sides: number v is at b + v * b_stride, its solution at
    /// x + v * x_stride. Throws usage_error for count < 0, or strides less than rows() in size.
    void solve(const T* b, std::int64_t b_stride, T* x, std::int64_t x_stride, std::int64_t count);

    /// Takes new values of the matrix, whose pattern is as it was, without a new analysis. Until
    /// then solves may use values from before or new ones. It waits for the device, and throws
    /// input_error as the constructor does.
    void update();

    [[nodiscard]] std::int64_t rows() const;
    /// The number of levels, or of ranges that are not empty; 0 where the method didn't need it.
    [[nodiscard]] std::int64_t levels() const;
    /// The bytes that the solver keeps on the device.
    [[nodiscard]] std::int64_t bytes() const;
    /// Never `automatic`.
    [[nodiscard]] triangular_method method() const;
    /// Why the method was taken, in words: "766 levels of 21902 rows".
    [[nodiscard]] const std::string& reason() const;

private:
    unmoved<std::unique_ptr<triangle_solve<T>>> solve_;
};

} // namespace krylith
