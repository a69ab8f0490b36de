// CG for several right-hand sides (solvers/cg.hpp), as passes of a joint loop.
#pragma once

#include <type_traits>

#include <krylith/solvers/joint/applied_steps.hpp>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/joint/pass_list.hpp>

namespace krylith {

/// What is the same with every M.
struct cg_parts {
    enum role : int { b, x, r, p, q, z };
    static constexpr unsigned domain = in_set(x, p);
    enum number : int { pq, rho, alpha, beta, numbers };

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
};

/// CG. With M applied as a step q stands for r of norm 1 between two products, and z for what M
/// makes of it.
template <bool Applied>
struct cg_columns : cg_parts {
    static constexpr bool applied = Applied;

    static constexpr int vectors = applied ? z + 1 : q + 1;
    /// Small systems run in one kernel (solvers/joint/persistent_columns.hpp).
    static constexpr bool persistent = !applied;

    /// r'r, and r'z where M is in the same pass.
    static constexpr int residual_sums = applied ? 1 : 2;

    template <class T>
    KRYLITH_HD static void add_residual(T r, T z, double* sums) {
        sums[0] += column_term(r, r);
        if constexpr (!applied) sums[1] += column_term(r, z);
    }

    /// r = b - A x, or b where x = 0, and p = z.
    template <bool FromX>
    struct start : column_pass {
        static constexpr int product = FromX ? static_cast<int>(x) : no_product;
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes = applied ? in_set(r) : in_set(r, p);
        static constexpr int sums = residual_sums;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T d, T product, T* e, double* s) {
            e[r] = e[b] - product;
            e[p] = d * e[r];
            add_residual(e[r], e[p], s);
        }
    };

    /// r'z of the direction p: where M is a step of its own its sum stays in extra().
    KRYLITH_HD static double product_of(const double* array, const column_places& at, int j) {
        return array[(applied ? at.extra() : at.own(rho)) + j];
    }

    /// r -= alpha q.
    struct subtract : column_pass {
        static constexpr unsigned reads = in_set(r, q);
        static constexpr unsigned writes = in_set(r);
        static constexpr int sums = residual_sums;
        static constexpr bool uses_diagonal = !applied;
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
                        ? static_cast<T>(product_of(array, at, j) / arrived[j])
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
        static constexpr bool uses_diagonal = !applied;
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
            const T z_ = d * e[r];
            e[p] = c.beta != T(0) ? z_ + c.beta * e[p] : z_;
        }
    };

    // With M as a step of its own: x += alpha p comes before the loop may end, what makes the next
    // p after it, so that M is not applied in vain.

    /// x += alpha p and q = r / |r|.
    struct settle : column_pass {
        static constexpr unsigned reads = in_set(x, p, r);
        static constexpr unsigned writes = in_set(x, q);
        static constexpr int sums = 0;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        struct coefficients {
            T alpha;
            T inverse;
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                                  const column_places& at, int j) {
            const double norm = column_norm(array[at.rr() + j]);
            return {static_cast<T>(array[at.own(alpha) + j]),
                    norm > 0.0 ? static_cast<T>(1 / norm) : T(0)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double*) {
            if (c.alpha != T(0)) e[x] += c.alpha * e[p];
            e[q] = c.inverse != T(0) ? c.inverse * e[r] : T(0);
        }
    };

    /// r'z. At the start of the recurrence p = z, too.
    template <bool First>
    struct measure : norm_pass<residual_squares> {
        static constexpr unsigned reads = in_set(r, z);
        static constexpr unsigned writes = First ? in_set(p) : 0;
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.extra(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double* s) {
            const T z_ = c.norm * e[z];
            if constexpr (First) e[p] = z_;
            s[0] += column_term(e[r], z_);
        }
    };

    /// p = z + beta p.
    struct turn : column_pass {
        static constexpr unsigned reads = in_set(p, z);
        static constexpr unsigned writes = in_set(p);
        static constexpr int sums = 0;
        KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.extra(); }
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        struct coefficients {
            T norm;
            T beta;
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double* arrived,
                                                  const column_places& at, int j) {
            const double before = array[at.own(rho) + j];
            const bool goes_on = array[at.state() + j] == 0.0 && arrived[j] > 0.0;
            return {static_cast<T>(applied_factor(array, at, at.rr(), j)),
                    goes_on ? static_cast<T>(arrived[j] / before) : T(0)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double*) {
            const T z_ = c.norm * e[z];
            e[p] = c.beta != T(0) ? z_ + c.beta * e[p] : z_;
        }
    };

    template <bool FromX>
    using begins =
        std::conditional_t<applied,
                           pass_list<start<FromX>, normalise<cg_parts, residual_squares, r, q>,
                                     apply_preconditioner<q, z>, measure<true>>,
                           pass_list<start<FromX>>>;
    using before_test = pass_list<multiply, subtract>;
    using after_test = std::conditional_t<applied, pass_list<settle>, pass_list<advance>>;
    using next =
        std::conditional_t<applied, pass_list<apply_preconditioner<q, z>, measure<false>, turn>,
                           pass_list<>>;

    /// Makes column j begin from the sums of start. Returns the state that this leaves it in.
    KRYLITH_HD static loop_state begin(double* array, const column_places& at, int j,
                                       int /*value_bytes*/) {
        const double product = array[at.extra() + j];
        array[at.own(rho) + j] = product;
        return begun_with(product);
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
        const double before = product_of(array, at, j);
        if (const loop_state begun = begun_with(before); begun != loop_state::running) {
            state = as_register(begun); // then there was no step
            return false;
        }
        if (!(product > 0.0) || !(product - product == 0.0)) {
            state = as_register(product - product == 0.0 ? loop_state::indefinite_matrix
                                                         : loop_state::not_a_number);
            return false;
        }
        array[at.own(alpha) + j] = before / product;
        loop_state next = test_column(array, arrived, at, j);
        const double now = applied ? before : arrived[at.k + j];
        array[at.own(rho) + j] = now;
        if (next == loop_state::running) next = begun_with(now);
        if (next == loop_state::running && !applied) array[at.own(beta) + j] = now / before;
        state = as_register(next);
        return next == loop_state::running;
    }
};

} // namespace krylith
