// What joint loops have where M is applied to several columns as a step of its own
// (joint_preconditioner::applied). M takes columns of norm 1: a column is divided by its norm
// before, and what comes of it is multiplied by the norm where it is used.
#pragma once

#include <cmath>

#include <krylith/solvers/joint/column_pass.hpp>

namespace krylith {

/// A step that is no pass: vector `To` = M^-1 vector `From`. They differ.
template <int From, int To>
struct apply_preconditioner {
    static constexpr int from = From;
    static constexpr int to = To;
};

/// The norm of a column, of its square; 0 where that is not a number.
[[nodiscard]] KRYLITH_HD inline double column_norm(double square) {
    return square > 0.0 && square - square == 0.0 ? std::sqrt(square) : 0.0;
}

/// What multiplies M^-1 v / |v| to give the loop's M^-1 v, where the square of |v| lies at `place`.
[[nodiscard]] KRYLITH_HD inline double applied_factor(const double* array, const column_places& at,
                                                      int place, int j) {
    return column_norm(array[place + j]) * array[at.inverse_factor() + j];
}

/// Where the squares of columns are summed: r'r, or a number of the method's own.
struct residual_squares {
    KRYLITH_HD static constexpr int place(const column_places& at) { return at.rr(); }
};
template <int Number>
struct own_squares {
    KRYLITH_HD static constexpr int place(const column_places& at) { return at.own(Number); }
};

/// Vector `To` = vector `From` with columns of norm 1; 0 where the norm is 0 or not a number, so
/// that no column harms another in M. The pass before has summed the squares, at Squares::place().
/// `Method` tells those of one method from another's.
template <class Method, class Squares, int From, int To>
struct normalise : column_pass {
    static constexpr unsigned reads = in_set(From);
    static constexpr unsigned writes = in_set(To);
    static constexpr int sums = 0;
    KRYLITH_HD static constexpr int awaits(const column_places& at) { return Squares::place(at); }
    KRYLITH_HD static constexpr int first_sum(const column_places& at) { return at.rr(); }
    template <class T>
    struct coefficients {
        T inverse;
    };
    template <class T>
    KRYLITH_HD static coefficients<T> prepare(const double*, const double* arrived,
                                              const column_places&, int j) {
        const double norm = column_norm(arrived[j]);
        return {norm > 0.0 ? static_cast<T>(1 / norm) : T(0)};
    }
    template <class C, class T>
    KRYLITH_HD static void apply(const C& c, T, T, T* e, double*) {
        e[To] = c.inverse != T(0) ? c.inverse * e[From] : T(0);
    }
};

/// The factor of what M made of a column of norm 1, in the type of the vectors.
template <class T>
struct norm_coefficient {
    T norm;
};

/// What passes have that multiply what M made of columns of norm 1, whose squares the array has had
/// for a while.
template <class Squares>
struct norm_pass : column_pass {
    template <class T>
    using coefficients = norm_coefficient<T>;
    template <class T>
    KRYLITH_HD static coefficients<T> prepare(const double* array, const double*,
                                              const column_places& at, int j) {
        return {static_cast<T>(applied_factor(array, at, Squares::place(at), j))};
    }
};

} // namespace krylith
