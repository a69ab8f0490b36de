// BiCGStab for several right-hand sides (solvers/bicgstab.hpp), as passes of a joint loop.
#pragma once

#include <cmath>
#include <type_traits>

#include <krylith/solvers/joint/applied_steps.hpp>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/joint/pass_list.hpp>

namespace krylith {

/// BiCGStab with M on the right. Between the two products r stands for s. With M applied as a step
/// t, which is free before each product, takes p / |p| and s / |s|, and p_hat and s_hat are what M
/// makes of these.
template <bool Applied>
struct bicgstab_columns {
    static constexpr bool applied = Applied;

    enum role : int { b, x, r, shadow, p, v, t, p_hat, s_hat, vectors };
    static constexpr unsigned domain = in_set(x, p_hat, s_hat);

    enum number : int { sigma, vv, ss, ts, tt, pp, rho, shadow_norm, beta, gamma, numbers };
    static constexpr int residual_sums = 1;

    /// Whether a is 0 beside what rounding leaves of the norms that it is made of.
    KRYLITH_HD static bool vanishes(double a, double squares) {
        return !(std::fabs(a) > 2.220446049250313e-16 * std::sqrt(squares));
    }

    /// r = b - A x, or b where x = 0, and p = shadow = r.
    template <bool FromX>
    struct start : column_pass {
        static constexpr int product = FromX ? static_cast<int>(x) : no_product;
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes = in_set(r, shadow, p) | (applied ? 0 : in_set(p_hat));
        static constexpr int sums = residual_sums;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T d, T product, T* e, double* s) {
            e[r] = e[b] - product;
            e[shadow] = e[r];
            e[p] = e[r];
            e[p_hat] = d * e[r];
            s[0] += column_term(e[r], e[r]);
        }
    };

    /// The factor of M^-1 p and M^-1 s where M took the column with norm 1.
    template <class T>
    KRYLITH_HD static T scale(const double* array, number squares, const column_places& at, int j) {
        return applied ? static_cast<T>(applied_factor(array, at, at.own(squares), j)) : T(1);
    }

    /// v = A M^-1 p.
    struct multiply_p : column_pass {
        static constexpr int product = p_hat;
        static constexpr unsigned reads = in_set(shadow);
        static constexpr unsigned writes = in_set(v);
        static constexpr int sums = 2;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.own(sigma); }
        template <class T>
        using coefficients = norm_coefficient<T>;
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                                  const column_places& at, int j) {
            return {scale<T>(array, pp, at, j)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T product, T* e, double* s) {
            e[v] = c.norm * product;
            s[0] += column_term(e[shadow], e[v]);
            s[1] += column_term(e[v], e[v]);
        }
    };

    /// The step along p; 0 in a column that has stopped, or whose sigma vanishes.
    KRYLITH_HD static double step(const double* array, double sigma_, double vv_,
                                  const column_places& at, int j) {
        if (array[at.state() + j] != 0.0) return 0;
        if (vanishes(sigma_, array[at.own(shadow_norm) + j] * vv_)) return 0;
        return array[at.own(rho) + j] / sigma_;
    }

    /// s = r - alpha v, in the place of r.
    struct halve : column_pass {
        static constexpr unsigned reads = in_set(r, v);
        static constexpr unsigned writes = applied ? in_set(r) : in_set(r, s_hat);
        static constexpr int sums = 1;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.own(sigma); }
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.own(ss); }
        template <class T>
        struct coefficients {
            T alpha;
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double* arrived,
                                                  const column_places& at, int j) {
            return {static_cast<T>(step(array, arrived[j], arrived[at.k + j], at, j))};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T d, T, T* e, double* s) {
            if (c.alpha != T(0)) e[r] -= c.alpha * e[v];
            e[s_hat] = d * e[r];
            s[0] += column_term(e[r], e[r]);
        }
    };

    /// t = A M^-1 s.
    struct multiply_s : column_pass {
        static constexpr int product = s_hat;
        static constexpr unsigned reads = in_set(r);
        static constexpr unsigned writes = in_set(t);
        static constexpr int sums = 2;
        KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.own(ss); }
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.own(ts); }
        template <class T>
        using coefficients = norm_coefficient<T>;
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                                  const column_places& at, int j) {
            return {scale<T>(array, ss, at, j)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T product, T* e, double* s) {
            e[t] = c.norm * product;
            s[0] += column_term(e[r], e[t]);
            s[1] += column_term(e[t], e[t]);
        }
    };

    /// x += alpha M^-1 p + omega M^-1 s and r = s - omega t.
    struct finish : column_pass {
        static constexpr unsigned reads = in_set(x, r, shadow, t, p_hat, s_hat);
        static constexpr unsigned writes = in_set(x, r);
        static constexpr int sums = 2;
        KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.own(ts); }
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        struct coefficients {
            T alpha;
            T omega;
            T along_p; ///< alpha, of p_hat
            T along_s; ///< omega, of s_hat
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double* arrived,
                                                  const column_places& at, int j) {
            if (array[at.state() + j] != 0.0) return {};
            const double squares = arrived[at.k + j];
            const auto alpha_ =
                static_cast<T>(step(array, array[at.own(sigma) + j], array[at.own(vv) + j], at, j));
            const T omega_ = squares > 0.0 ? static_cast<T>(arrived[j] / squares) : T(0);
            return {alpha_, omega_, alpha_ * scale<T>(array, pp, at, j),
                    omega_ * scale<T>(array, ss, at, j)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double* s) {
            if (c.alpha != T(0)) e[x] += c.along_p * e[p_hat];
            if (c.omega != T(0)) {
                e[x] += c.along_s * e[s_hat];
                e[r] -= c.omega * e[t];
            }
            s[0] += column_term(e[r], e[r]);
            s[1] += column_term(e[shadow], e[r]);
        }
    };

    /// p = r + beta (p - omega v), and p'p where M is a step of its own.
    struct turn : column_pass {
        static constexpr unsigned reads = in_set(r, p, v);
        static constexpr unsigned writes = applied ? in_set(p) : in_set(p, p_hat);
        static constexpr int sums = applied ? 1 : 0;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.own(pp); }
        template <class T>
        struct coefficients {
            T beta;
            T gamma;
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                                  const column_places& at, int j) {
            return {static_cast<T>(array[at.own(beta) + j]),
                    static_cast<T>(array[at.own(gamma) + j])};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T d, T, T* e, double* s) {
            e[p] = c.beta != T(0) ? e[r] + c.beta * e[p] - c.gamma * e[v] : e[r];
            e[p_hat] = d * e[p];
            if constexpr (applied) s[0] += column_term(e[p], e[p]);
        }
    };

    template <bool FromX>
    using begins = std::conditional_t<
        applied,
        pass_list<start<FromX>, normalise<bicgstab_columns, residual_squares, p, t>,
                  apply_preconditioner<t, p_hat>>,
        pass_list<start<FromX>>>;
    using before_test = std::conditional_t<
        applied,
        pass_list<multiply_p, halve, normalise<bicgstab_columns, own_squares<ss>, r, t>,
                  apply_preconditioner<t, s_hat>, multiply_s, finish>,
        pass_list<multiply_p, halve, multiply_s, finish>>;
    using after_test = pass_list<turn>;
    using next = std::conditional_t<applied,
                                    pass_list<normalise<bicgstab_columns, own_squares<pp>, p, t>,
                                              apply_preconditioner<t, p_hat>>,
                                    pass_list<>>;

    /// Makes column j begin from the sums of start. Returns the state that this leaves it in.
    KRYLITH_HD static loop_state begin(double* array, const column_places& at, int j,
                                       int /*value_bytes*/) {
        for (const int squared : {rho, shadow_norm, pp})
            array[at.own(squared) + j] = array[at.rr() + j];
        return loop_state::running;
    }

    /// Takes in the sums of an iteration: the next direction of column j, and whether it goes on.
    KRYLITH_HD static bool test(double* array, const double* arrived, const column_places& at,
                                int j) {
        double& state = array[at.state() + j];
        array[at.own(beta) + j] = 0;
        array[at.own(gamma) + j] = 0;
        if (state != 0.0) return false;
        loop_state next = test_column(array, arrived, at, j);
        const double norm = array[at.own(shadow_norm) + j];
        const double product = array[at.own(sigma) + j];
        const double ts_ = array[at.own(ts) + j];
        const double tt_ = array[at.own(tt) + j];
        const double now = arrived[at.k + j];
        if (next == loop_state::running &&
            (vanishes(product, norm * array[at.own(vv) + j]) ||
             vanishes(ts_, array[at.own(ss) + j] * tt_) || vanishes(now, norm * arrived[j])))
            next = loop_state::breakdown;
        if (next == loop_state::running) {
            const double along = array[at.own(rho) + j] / product;
            const double omega = ts_ / tt_;
            array[at.own(beta) + j] = now / array[at.own(rho) + j] * (along / omega);
            array[at.own(gamma) + j] = array[at.own(beta) + j] * omega;
            array[at.own(rho) + j] = now;
        }
        state = as_register(next);
        return next == loop_state::running;
    }
};

} // namespace krylith
