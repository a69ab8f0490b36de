// GMRES(m) for several right-hand sides (solvers/gmres.hpp), as a method of a joint loop whose
// iterations are cycles over a basis (solvers/joint/column_basis.hpp).
#pragma once

#include <krylith/solvers/joint/column_cycle.hpp>
#include <krylith/solvers/joint/column_pass.hpp>

namespace krylith {

/// GMRES; M, on the right, is the main diagonal where Preconditioned, else I. v is the first vector
/// of the basis, which the residual is left in; its length is taken into account by the first step.
template <bool Preconditioned>
struct gmres_columns {
    enum role : int { b, x, v, p, w, vectors };
    static constexpr unsigned domain = in_set(x, p);
    static constexpr bool preconditioned = Preconditioned;
    /// The loop makes a basis, and a trip of it is a whole cycle.
    static constexpr bool keeps_basis = true;

    static constexpr int numbers = column_cycle_places::numbers;

    /// v = b - A x, or b where x = 0, and p = M^-1 v.
    template <bool FromX>
    struct start : column_pass {
        static constexpr int product = FromX ? static_cast<int>(x) : no_product;
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes = in_set(v, p);
        static constexpr int sums = 1;
        static constexpr bool uses_diagonal = Preconditioned;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T d, T product, T* e, double* s) {
            e[v] = e[b] - product;
            e[p] = d * e[v];
            s[0] += column_term(e[v], e[v]);
        }
    };

    /// w = A p.
    struct multiply : column_pass {
        static constexpr int product = p;
        static constexpr unsigned reads = 0;
        static constexpr unsigned writes = in_set(w);
        static constexpr int sums = 0;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T, T product, T* e, double*) {
            e[w] = product;
        }
    };

    /// Makes column j begin a cycle from the residual of start.
    KRYLITH_HD static loop_state begin(double* array, const column_places& at, int j,
                                       int /*value_bytes*/) {
        array[at.own(column_cycle_places::steps) + j] = 0;
        array[at.own(column_cycle_places::lucky) + j] = 0;
        return loop_state::running;
    }
};

} // namespace krylith
