// MINRES for several right-hand sides (solvers/minres.hpp), as passes of a joint loop.
#pragma once

#include <cmath>
#include <type_traits>

#include <krylith/solvers/iteration/minres_rounding.hpp>
#include <krylith/solvers/joint/applied_steps.hpp>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/solvers/joint/pass_list.hpp>

namespace krylith {

/// What is the same with every M.
struct minres_parts {
    enum role : int { b, x, r, p, q, v, v_before, w, w_before, u, z };
    static constexpr unsigned domain = in_set(x, p);
    enum number : int {
        pq,
        qq,
        zv,
        gamma,
        gamma_before,
        cosine,
        cosine_before,
        sine,
        sine_before,
        eta,
        size,
        ww,        ///< squared norm of w, as M measures
        ww_before, ///< of w_before
        across,    ///< w'w_before
        value_bytes,
        numbers
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
};

/// MINRES. Lanczos vectors stay as long as the recurrence leaves them: v / gamma is the normalised
/// one, and p is M^-1 v. With M applied as a step u is a Lanczos vector of norm 1, and z what M
/// makes of it.
template <bool Applied>
struct minres_columns : minres_parts {
    static constexpr bool applied = Applied;

    static constexpr int vectors = applied ? z + 1 : w_before + 1;

    /// r = v = b - A x, or b where x = 0.
    template <bool FromX>
    struct start : column_pass {
        static constexpr int product = FromX ? static_cast<int>(x) : no_product;
        static constexpr unsigned reads = in_set(b);
        static constexpr unsigned writes =
            in_set(r, v, v_before, w, w_before) | (applied ? 0 : in_set(p));
        static constexpr int sums = applied ? 1 : 2;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C&, T d, T product, T* e, double* s) {
            e[r] = e[b] - product;
            e[v] = e[r];
            e[p] = d * e[r];
            e[v_before] = e[w] = e[w_before] = T(0);
            s[0] += column_term(e[r], e[r]);
            if constexpr (!applied) s[1] += column_term(e[r], e[p]);
        }
    };

    /// p = M^-1 v and v'p, of what M made of v / |v|.
    struct open : norm_pass<residual_squares> {
        static constexpr unsigned reads = in_set(v, z);
        static constexpr unsigned writes = in_set(p);
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.extra(); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double* s) {
            e[p] = c.norm * e[z];
            s[0] += column_term(e[v], e[p]);
        }
    };

    /// q becomes the next Lanczos vector; q'M^-1 q, or q'q where M is a step of its own.
    struct lanczos : column_pass {
        static constexpr unsigned reads = in_set(q, v, v_before);
        static constexpr unsigned writes = in_set(q, v_before);
        static constexpr int sums = 1;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.own(pq); }
        KRYLITH_HD static constexpr int first_sum(const column_places& at) {
            return at.own(applied ? qq : zv);
        }
        template <class T>
        struct coefficients {
            T inverse;
            T along;
            T before;
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double* arrived,
                                                  const column_places& at, int j) {
            if (array[at.state() + j] != 0.0) return {T(0), T(0), T(0)};
            const double g = array[at.own(gamma) + j];
            const double earlier = array[at.own(gamma_before) + j];
            return {static_cast<T>(1 / g), static_cast<T>(arrived[j] / (g * g) / g),
                    earlier > 0.0 ? static_cast<T>(g / earlier) : T(0)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T d, T, T* e, double* s) {
            e[q] = c.inverse * e[q] - c.along * e[v] - c.before * e[v_before];
            e[v_before] = e[v];
            s[0] += column_term(e[q], d * e[q]);
        }
    };

    /// q'M^-1 q, of what M made of q / |q|.
    struct measure : norm_pass<own_squares<qq>> {
        static constexpr unsigned reads = in_set(q, z);
        static constexpr unsigned writes = 0;
        static constexpr int sums = 1;
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.own(zv); }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T, T, T* e, double* s) {
            s[0] += column_term(e[q], c.norm * e[z]);
        }
    };

    /// The rotations of the new column of T, and whether the column takes the step.
    struct rotation {
        loop_state state;
        double next; ///< gamma of the next Lanczos vector
        double first;
        double second;
        double third;
        double cosine_now;
        double sine_now;
        double size_now;
        double ww_now;
        double across_now;
    };
    KRYLITH_HD static rotation rotate(const double* array, double zv_, const column_places& at,
                                      int j) {
        rotation t{};
        const double g = array[at.own(gamma) + j];
        const double delta = array[at.own(pq) + j] / (g * g);
        const double c = array[at.own(cosine) + j];
        const double c_before = array[at.own(cosine_before) + j];
        const double s = array[at.own(sine) + j];
        const double diagonal = c * delta - c_before * s * g;
        // The first gamma is the norm of r, and no entry of T.
        const double above = array[at.own(gamma_before) + j] > 0.0 ? g : 0.0;
        const double largest = delta * delta + above * above;
        const auto rounding = minres_rounding::of(static_cast<int>(array[at.own(value_bytes) + j]));
        t.size_now = largest > array[at.own(size) + j] ? largest : array[at.own(size) + j];
        t.state = loop_state::running;
        if (array[at.state() + j] != 0.0)
            t.state = loop_state::stopped;
        else if (!(zv_ - zv_ == 0.0) || !(delta - delta == 0.0))
            t.state = loop_state::not_a_number;
        else if (zv_ < 0.0)
            t.state = loop_state::indefinite_preconditioner;
        // ||A r|| / ||r|| beside a part of ||A||, both as M measures.
        else if (!(std::sqrt(diagonal * diagonal + c * c * zv_) >
                   rounding.vanishes * std::sqrt(t.size_now)))
            t.state = loop_state::stagnated;
        if (t.state != loop_state::running) return t;
        t.next = std::sqrt(zv_);
        t.first = 1 / std::sqrt(diagonal * diagonal + zv_);
        t.second = (s * delta + c_before * c * g) * t.first;
        t.third = array[at.own(sine_before) + j] * g * t.first;
        t.cosine_now = diagonal * t.first;
        t.sine_now = t.next * t.first;
        limit_step(t, rounding, array, at, j);
        return t;
    }

    /// Ends the recurrence, to be judged by b - A x, before a step that rounding outweighs.
    KRYLITH_HD static void limit_step(rotation& t, const minres_rounding& rounding,
                                      const double* array, const column_places& at, int j) {
        const double along = t.second * array[at.own(ww) + j] + t.third * array[at.own(across) + j];
        const double rest = t.second * (along + t.third * array[at.own(across) + j]) +
                            t.third * t.third * array[at.own(ww_before) + j];
        t.ww_now = t.first * t.first + (rest > 0.0 ? rest : 0.0);
        t.across_now = -along;
        if (!(t.cosine_now * t.cosine_now * t.size_now * t.ww_now <
              rounding.outweighs * rounding.outweighs))
            t.state = loop_state::converged;
    }

    /// The next w, x, p and r.
    struct turn : column_pass {
        static constexpr unsigned reads =
            in_set(x, r, p, q, w, w_before) | (applied ? in_set(z) : 0);
        static constexpr unsigned writes = in_set(x, r, p, v, w, w_before);
        static constexpr int sums = 1;
        static constexpr bool uses_diagonal = !applied;
        KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.own(zv); }
        KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
        template <class T>
        struct coefficients {
            bool steps;
            T first; ///< of p
            T second;
            T third;
            T phi;
            T kept;
            T added; ///< of q
            T norm;  ///< of q
        };
        template <class T>
        KRYLITH_HD static coefficients<T> prepare(const double* array, const double* arrived,
                                                  const column_places& at, int j) {
            const rotation t = rotate(array, arrived[j], at, j);
            if (t.state != loop_state::running) return {};
            const double now = array[at.own(eta) + j];
            const double added = t.next > 0.0 ? -t.sine_now * now * t.cosine_now / t.next : 0.0;
            return {true,
                    static_cast<T>(t.first / array[at.own(gamma) + j]),
                    static_cast<T>(t.second),
                    static_cast<T>(t.third),
                    static_cast<T>(t.cosine_now * now),
                    static_cast<T>(t.sine_now * t.sine_now),
                    static_cast<T>(added),
                    applied ? static_cast<T>(applied_factor(array, at, at.own(qq), j)) : T(1)};
        }
        template <class C, class T>
        KRYLITH_HD static void apply(const C& c, T d, T, T* e, double* s) {
            e[v] = e[q];
            if (c.steps) {
                const T next = c.first * e[p] - c.second * e[w] - c.third * e[w_before];
                e[w_before] = e[w];
                e[w] = next;
                e[x] += c.phi * next;
                e[r] = c.kept * e[r] + c.added * e[q];
                if constexpr (applied)
                    e[p] = c.norm * e[z];
                else
                    e[p] = d * e[q];
            }
            s[0] += column_term(e[r], e[r]);
        }
    };

    template <bool FromX>
    using begins =
        std::conditional_t<applied,
                           pass_list<start<FromX>, normalise<minres_parts, residual_squares, v, u>,
                                     apply_preconditioner<u, z>, open>,
                           pass_list<start<FromX>>>;
    using before_test = std::conditional_t<
        applied,
        pass_list<multiply, lanczos, normalise<minres_parts, own_squares<qq>, q, u>,
                  apply_preconditioner<u, z>, measure, turn>,
        pass_list<multiply, lanczos, turn>>;
    using after_test = pass_list<>;
    using next = pass_list<>;

    /// Makes column j begin from the sums of start. Returns the state that this leaves it in.
    KRYLITH_HD static loop_state begin(double* array, const column_places& at, int j, int bytes) {
        const double squared = array[at.extra() + j];
        array[at.own(gamma) + j] = squared > 0.0 ? std::sqrt(squared) : 0.0;
        array[at.own(eta) + j] = array[at.own(gamma) + j];
        array[at.own(cosine) + j] = array[at.own(cosine_before) + j] = 1;
        for (const int zero : {gamma_before, sine, sine_before, size, ww, ww_before, across})
            array[at.own(zero) + j] = 0;
        array[at.own(value_bytes) + j] = bytes;
        return begun_with(squared);
    }

    /// Takes in the sums of an iteration: the rotations of column j, and whether it goes on.
    KRYLITH_HD static bool test(double* array, const double* arrived, const column_places& at,
                                int j) {
        const rotation t = rotate(array, array[at.own(zv) + j], at, j);
        double& state = array[at.state() + j];
        if (state != 0.0) return false;
        if (t.state != loop_state::running) {
            state = as_register(t.state);
            return false;
        }
        array[at.own(size) + j] = t.size_now;
        array[at.own(ww_before) + j] = array[at.own(ww) + j];
        array[at.own(ww) + j] = t.ww_now;
        array[at.own(across) + j] = t.across_now;
        array[at.own(gamma_before) + j] = array[at.own(gamma) + j];
        array[at.own(gamma) + j] = t.next;
        array[at.own(cosine_before) + j] = array[at.own(cosine) + j];
        array[at.own(sine_before) + j] = array[at.own(sine) + j];
        array[at.own(cosine) + j] = t.cosine_now;
        array[at.own(sine) + j] = t.sine_now;
        array[at.own(eta) + j] = -t.sine_now * array[at.own(eta) + j];
        loop_state next = test_column(array, arrived, at, j);
        // The Krylov space holds no more: what is left of r is judged by b - A x.
        if (next == loop_state::running && !(t.next > 0.0)) next = loop_state::converged;
        state = as_register(next);
        return next == loop_state::running;
    }
};

} // namespace krylith
