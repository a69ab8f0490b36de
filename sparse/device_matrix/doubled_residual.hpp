// The residual b - s A x of a block in doubled precision: products and sums are made in twice the
// digits of T, so that the rounding of the result is that of the numbers A, b and x alone.
//
// The products of float are exact in double, where they are added up. Those of double are made
// of two numbers each (TwoProduct), and so are their sums (TwoSum; Ogita, Rump, Oishi, Accurate sum
// and dot product, SIAM J. Sci. Comput. 26(6), 2005: Dot2).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/sparse/device_matrix/row_map.hpp>

namespace krylith {

/// What rounding may add to each entry of a residual that is computed in one precision, by the
/// usual bounds of sums: 4 (k + 2) eps (|A||x| + |b|), where k is the most nonzeros of a row.
[[nodiscard]] KRYLITH_HD inline double residual_rounding(std::int64_t longest_row, double epsilon,
                                                         double size) {
    return 4 * static_cast<double>(longest_row + 2) * epsilon * size;
}

/// A sum in doubled precision.
struct doubled_sum {
    double sum = 0;
    double tail = 0; ///< what `sum` lacks

    KRYLITH_HD void add(double term) {
        const double now = sum + term;
        const double taken = now - sum;
        tail += (sum - (now - taken)) + (term - taken);
        sum = now;
    }
    KRYLITH_HD void add_product(double a, double b) {
        using std::fma;
        // As a product, compilers would join it with the sums that it enters, and count its
        // rounding twice.
        const double product = fma(a, b, 0.0);
        add(product);
        tail += fma(a, b, -product);
    }
    KRYLITH_HD void add_product(float a, float b) {
        sum += static_cast<double>(a) * static_cast<double>(b);
    }
    [[nodiscard]] KRYLITH_HD double value() const { return sum + tail; }
};

/// What a block has of one row of A x, and of A.
struct row_terms {
    doubled_sum product;
    double size = 0;    ///< of |A||x|
    double squares = 0; ///< sum of the squared entries of A
    std::int64_t entries = 0;

    template <class T>
    KRYLITH_HD void add(T value, T x) {
        using std::fabs;
        product.add_product(value, x);
        size += fabs(static_cast<double>(value) * static_cast<double>(x));
        squares += static_cast<double>(value) * static_cast<double>(value);
        ++entries;
    }
    KRYLITH_HD void add(const row_terms& other) {
        product.add(other.product.sum);
        product.tail += other.product.tail;
        size += other.size;
        squares += other.squares;
        entries += other.entries;
    }
};

/// Sums over rows of one column of the residual r, and over the entries of A.
struct residual_sums {
    double rr;                ///< r'r before r is rounded to T
    double sizes;             ///< squared norm of s |A||x| + |b|
    double largest;           ///< the largest |r_i|: it is there where squares vanish
    double squares;           ///< sum of the squared entries of A, without s
    std::int64_t longest_row; ///< its stored entries

    KRYLITH_HD void join(const residual_sums& other) {
        rr += other.rr;
        sizes += other.sizes;
        squares += other.squares;
        if (other.largest > largest) largest = other.largest;
        if (other.longest_row > longest_row) longest_row = other.longest_row;
    }
};

/// Operands; plain data for kernels. Vectors have `columns` entries a row, which lie row by row.
/// Pointers are to local column 0 (x), and to row 0 of what `map` maps to (b, r, remote, terms).
template <class T>
struct residual_operands {
    const T* x;
    const T* b = nullptr;
    T* r = nullptr; ///< takes the residual, rounded to T
    T factor = 1;   ///< s, a power of two
    int columns = 1;
    row_map map = {};                  ///< rows of `alone` are counted in the sums where it says so
    const row_terms* remote = nullptr; ///< what other blocks have of the rows; null: nothing
    /// Where it is there, it takes what the block has of the rows, and b, r and sums are not used.
    row_terms* terms = nullptr;

    /// Ends a row of the block, and one of its columns.
    KRYLITH_HD void finish(std::int64_t row, int column, row_terms here,
                           residual_sums& sums) const {
        using std::fabs;
        const std::int64_t to = map.at(row);
        const std::int64_t at = to * columns + column;
        if (terms != nullptr) {
            terms[at] = here;
            return;
        }
        if (remote != nullptr) here.add(remote[at]);
        const auto s = static_cast<double>(factor);
        const auto rhs = static_cast<double>(b[at]);
        doubled_sum residual{-s * here.product.sum, -s * here.product.tail};
        residual.add(rhs);
        const double value = residual.value();
        r[at] = static_cast<T>(value);
        if (row >= map.alone && (to < map.counted_begin || to >= map.counted_end)) return;
        const double size = s * here.size + fabs(rhs);
        sums.join({value * value, size * size, fabs(value), here.squares, here.entries});
    }
};

/// Adds up the sums of parts of a matrix, those of each part `columns` one after the other, in
/// order. Returns those of each column.
[[nodiscard]] inline std::vector<residual_sums> joined(std::span<const residual_sums> parts,
                                                       int columns) {
    std::vector<residual_sums> all(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < parts.size(); ++i) all[i % all.size()].join(parts[i]);
    return all;
}

} // namespace krylith
