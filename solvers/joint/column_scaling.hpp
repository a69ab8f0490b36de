// How a joint loop scales its columns by powers of two, each as iteration does a system of its own
// (solvers/iteration/scaling.hpp): column j iterates on (s A) y = t b with x = (s / t) y and c
// M^-1. The factors s and c are numbers of the column (column_places); t is in the b that the
// devices have.
#pragma once

#include <krylith/solvers/joint/column_pass.hpp>

namespace krylith {

/// The exponents of a column.
struct column_scale {
    bool scaled = false; ///< squares of b or A b leave the range
    bool zero = false;   ///< b = 0
    int b = 0;           ///< t = 2^b
    int a = 0;           ///< s = 2^a
    int m = 0;           ///< c = 2^m
    bool finite = true;  ///< b, A b and M^-1 b
    /// x is the y of the scaled system times 2^x().
    [[nodiscard]] int x() const { return a - b; }
};

/// The vectors that all methods number alike, r for the residual and what it needs, and the passes
/// that show how large A and M are.
struct scaling_parts {
    enum role : int { b, x, r };

    /// x = b, with b'b.
    struct copy : column_pass {
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes = in_set(x);
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T, T, T* e, double* s) {
            e[x] = e[b];
            s[0] += column_term(e[b], e[b]);
        }
    };

    /// r = A x, with its squared norm.
    struct multiply : column_pass {
        static constexpr int product = x;
        static constexpr unsigned reads = 0;
        static constexpr unsigned writes = in_set(r);
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.extra(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T, T product, T* e, double* s) {
            e[r] = product;
            s[0] += column_term(product, product);
        }
    };

    /// x'x.
    struct square : column_pass {
        static constexpr unsigned reads = in_set(x);
        static constexpr unsigned writes = 0;
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.xx(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T, T, T* e, double* s) {
            s[0] += column_term(e[x], e[x]);
        }
    };

    /// x = M^-1 b entry by entry.
    struct precondition : column_pass {
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes = in_set(x);
        static constexpr int sums = 0;
        static constexpr bool uses_diagonal = true;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T d, T, T* e, double*) {
            e[x] = d * e[b];
        }
    };
};

} // namespace krylith
