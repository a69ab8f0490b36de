// GMRES(m) for several right-hand sides (solvers/gmres.hpp), as a method of a joint loop whose
// iterations are cycles over a basis (solvers/joint/column_basis.hpp).
#pragma once

#include <type_traits>

#include <krylith/solvers/joint/applied_steps.hpp>
#include <krylith/solvers/joint/column_cycle.hpp>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/joint/pass_list.hpp>

namespace krylith {

/// What is the same with every M.
struct gmres_parts {
    enum role : int { b, x, v, p, w, vectors };
    static constexpr unsigned domain = in_set(x, p);
    /// The loop makes a basis, and a trip of it is a whole cycle.
    static constexpr bool keeps_basis = true;

    static constexpr int numbers = column_cycle_places::numbers;

    /// w = A p, times the factor of M where M is a step of its own.
    struct multiply : column_pass {
        static constexpr int product = p;
        static constexpr unsigned reads = 0;
        static constexpr unsigned writes = in_set(w);
        static constexpr int sums = 0;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        using coefficients = norm_coefficient<T>;
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                                  const column_places& at, int j) {
            return {static_cast<T>(array[at.own(column_cycle_places::step_factor) + j])};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T product, T* e, double*) {
            e[w] = c.norm * product;
        }
    };
};

/// GMRES with M on the right. v is the first vector of the basis, which the residual is left in;
/// its length is taken into account by the first step. The others have norm 1 but for what rounding
/// and the delayed orthogonalisation leave, so that an M that is a step of its own takes them as
/// they are.
template <bool Applied>
struct gmres_columns : gmres_parts {
    static constexpr bool applied = Applied;

    /// v = b - A x, or b where x = 0, and p = M^-1 v.
    template <bool FromX>
    struct start : column_pass {
        static constexpr int product = FromX ? static_cast<int>(x) : no_product;
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes = applied ? in_set(v) : in_set(v, p);
        static constexpr int sums = 1;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T d, T product, T* e, double* s) {
            e[v] = e[b] - product;
            e[p] = d * e[v];
            s[0] += column_term(e[v], e[v]);
        }
    };

    /// p = |v| p, of what M made of v / |v|.
    struct stretch : column_pass {
        static constexpr unsigned reads = in_set(p);
        static constexpr unsigned writes = in_set(p);
        static constexpr int sums = 0;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        using coefficients = norm_coefficient<T>;
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                                  const column_places& at, int j) {
            return {static_cast<T>(column_norm(array[at.rr() + j]))};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double*) {
            e[p] *= c.norm;
        }
    };

    /// w'w, of w = V y.
    struct measure : column_pass {
        static constexpr unsigned reads = in_set(w);
        static constexpr unsigned writes = 0;
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) {
            return own_squares<column_cycle_places::found>::place(at);
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T, T, T* e, double* s) {
            s[0] += column_term(e[w], e[w]);
        }
    };

    /// x += |w| p, of what M made of w / |w|.
    struct add : norm_pass<own_squares<column_cycle_places::found>> {
        static constexpr unsigned reads = in_set(x, p);
        static constexpr unsigned writes = in_set(x);
        static constexpr int sums = 0;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double*) {
            if (c.norm != T(0)) e[x] += c.norm * e[p];
        }
    };

    template <bool FromX>
    using begins =
        std::conditional_t<applied,
                           pass_list<start<FromX>, normalise<gmres_parts, residual_squares, v, w>,
                                     apply_preconditioner<w, p>, stretch>,
                           pass_list<start<FromX>>>;
    /// The basis is not needed any more.
    using ends =
        pass_list<measure, normalise<gmres_parts, own_squares<column_cycle_places::found>, w, v>,
                  apply_preconditioner<v, p>, add>;

    /// Makes column j begin a cycle from the residual of start.
    KRYLITH_HD static loop_state begin(double* array, const column_places& at, int j,
                                       int /*value_bytes*/) {
        array[at.own(column_cycle_places::steps) + j] = 0;
        array[at.own(column_cycle_places::lucky) + j] = 0;
        array[at.own(column_cycle_places::step_factor) + j] =
            applied ? array[at.inverse_factor() + j] : 1.0;
        return loop_state::running;
    }
};

} // namespace krylith
