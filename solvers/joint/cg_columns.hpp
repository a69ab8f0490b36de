// CG for several right-hand sides (solvers/cg.hpp), as passes of a joint loop.
#pragma once

#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/joint/pass_list.hpp>

namespace krylith {

/// CG; M is the main diagonal where Preconditioned, else I.
template <bool Preconditioned>
struct cg_columns {
    enum role : int { b, x, r, p, q, vectors };
    static constexpr unsigned domain = in_set(x, p);
    static constexpr bool preconditioned = Preconditioned;
    /// Small systems run in one kernel (solvers/joint/persistent_columns.hpp).
    static constexpr bool persistent = true;

    enum number : int { pq, rho, alpha, beta, numbers };
    /// r'r, and r'z where there is M.
    static constexpr int residual_sums = Preconditioned ? 2 : 1;

    template <class T>
    KRYLITH_HD static void add_residual(T r, T z, double* sums) {
        sums[0] += column_term(r, r);
        if constexpr (Preconditioned) sums[1] += column_term(r, z);
    }

    /// r = b - A x, or b where x = 0, and p = z.
    template <bool FromX>
    struct start : column_pass {
        static constexpr int product = FromX ? static_cast<int>(x) : no_product;
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes = in_set(r, p);
        static constexpr int sums = residual_sums;
        static constexpr bool uses_diagonal = Preconditioned;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T d, T product, T* e, double* s) {
            e[r] = e[b] - product;
            e[p] = d * e[r];
            add_residual(e[r], e[p], s);
        }
    };

    /// q = A p.
    struct multiply : column_pass {
        static constexpr int product = p;
        static constexpr unsigned reads = in_set(p);
        static constexpr unsigned writes = in_set(q);
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.own(pq); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T, T product, T* e, double* s) {
            e[q] = product;
            s[0] += column_term(e[p], product);
        }
    };

    /// r -= alpha q.
    struct subtract : column_pass {
        static constexpr unsigned reads = in_set(r, q);
        static constexpr unsigned writes = in_set(r);
        static constexpr int sums = residual_sums;
        static constexpr bool uses_diagonal = Preconditioned;
        KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.own(pq); }
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        struct coefficients {
            T alpha;
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double* arrived,
                                                  const column_places& at, int j) {
            return {array[at.state() + j] == 0.0 && arrived[j] > 0.0
                        ? static_cast<T>(array[at.own(rho) + j] / arrived[j])
                        : T(0)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T d, T, T* e, double* s) {
            if (c.alpha != T(0)) e[r] -= c.alpha * e[q];
            add_residual(e[r], d * e[r], s);
        }
    };

    /// x += alpha p and p = z + beta p.
    struct advance : column_pass {
        static constexpr unsigned reads = in_set(x, p, r);
        static constexpr unsigned writes = in_set(x, p);
        static constexpr int sums = 0;
        static constexpr bool uses_diagonal = Preconditioned;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        struct coefficients {
            T alpha;
            T beta;
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                                  const column_places& at, int j) {
            return {static_cast<T>(array[at.own(alpha) + j]),
                    static_cast<T>(array[at.own(beta) + j])};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T d, T, T* e, double*) {
            if (c.alpha != T(0)) e[x] += c.alpha * e[p];
            const T z = d * e[r];
            e[p] = c.beta != T(0) ? z + c.beta * e[p] : z;
        }
    };

    using before_test = pass_list<multiply, subtract>;
    using after_test = pass_list<advance>;

    /// Makes column j begin from the sums of start. Returns the state that this leaves it in.
    KRYLITH_HD static loop_state begin(double* array, const column_places& at, int j,
                                       int /*value_bytes*/) {
        const double product = array[(Preconditioned ? at.extra() : at.rr()) + j];
        array[at.own(rho) + j] = product;
        return product > 0.0 ? loop_state::running : loop_state::indefinite_preconditioner;
    }

    /// Takes in p'q and r'r (r'z): the step of column j, and whether it goes on. A column that has
    /// stopped gets steps of 0, which leave its x as it is.
    KRYLITH_HD static bool test(double* array, const double* arrived, const column_places& at,
                                int j) {
        double& state = array[at.state() + j];
        array[at.own(alpha) + j] = 0;
        array[at.own(beta) + j] = 0;
        if (state != 0.0) return false;
        const double product = array[at.own(pq) + j];
        const double before = array[at.own(rho) + j];
        if (!(product > 0.0) || !(product - product == 0.0)) {
            state = as_register(product - product == 0.0 ? loop_state::indefinite_matrix
                                                         : loop_state::not_a_number);
            return false;
        }
        array[at.own(alpha) + j] = before / product;
        loop_state next = test_column(array, arrived, at, j);
        const double now = arrived[(Preconditioned ? at.k : 0) + j];
        array[at.own(rho) + j] = now;
        if (next == loop_state::running && !(now > 0.0))
            next = loop_state::indefinite_preconditioner;
        if (next == loop_state::running) array[at.own(beta) + j] = now / before;
        state = as_register(next);
        return next == loop_state::running;
    }
};

} // namespace krylith
