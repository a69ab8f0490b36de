// The scalar part of an Arnoldi step with delayed re-orthogonalisation (DCGS2): Swirydowicz,
// Langou, Ananthan, Yang, Thomas, Numer. Linear Algebra Appl. 28(2), 2021; Bielich, Langou, Thomas,
// Swirydowicz, Yamazaki, Boman, Parallel Computing 112, 2022.
//
// Step j has V = [v_0 ... v_{j-1}], which are final, and u, the candidate for v_j: K v_{j-1} after
// one pass of Gram-Schmidt, times sigma. K V = V H + v_j h_{j,j-1} e_{j-1}' holds but for the last
// column of H, of which the second pass is still missing. After w = K u one reduction gives
//
//     s = V'u   gamma = u'u   t = V'w   delta = u'w   omega = w'w.
//
// The second pass on u, and its norm by Pythagoras (s has the size of rounding errors of the first
// pass):
//
//     alpha^2 = gamma - s's,   v_j = (u - V s) / alpha,
//     h_{.,j-1} += s / sigma,  h_{j,j-1} = alpha / sigma.
//
// The first pass on K v_j needs no product with K: K v_j = (w - K V s) / alpha, and K V s = V H s +
// v_j h_{j,j-1} s_{j-1} has its component outside of the space in v_j only. With tau = v_j'w =
// (delta - s't) / alpha
//
//     h_{.,j} = (t - H s) / alpha,   h_{j,j} = (tau - h_{j,j-1} s_{j-1}) / alpha,
//     next u = phi (w - V t - tau v_j),   next sigma = phi alpha.
//
// The factor phi only keeps u near length 1, so that lengths don't grow from step to step; a rough
// value will do. Column j - 1 is complete a step late; a cycle of m columns ends with a step that
// has no w.
//
// Where K differs from step to step (FGMRES: K u = A z with z = M_j^-1 u, and z is kept), K v_j
// does not follow from K u. But A Z = V H needs no more than w itself, and it is simpler: with the
// same t and tau
//
//     h_{.,j} = t,   h_{j,j} = tau,   next u = phi (w - V t - tau v_j),   next sigma = phi.
#pragma once

#include <krylith/solvers/gmres/hessenberg.hpp>

namespace krylith {

/// The batch of step j arrives at first(): s, gamma, t, delta, omega. The task leaves what
/// delayed_update takes in its place: s, 1 / alpha, t, tau, phi.
struct delayed_layout : hessenberg_layout {
    /// Column j of H without rotations, m + 1 places; column(j) has it rotated.
    [[nodiscard]] KRYLITH_HD std::int64_t kept(std::int64_t j) const {
        return hessenberg_layout::size() + j * (m + 1);
    }
    /// The place of 1 / sigma of the candidate.
    [[nodiscard]] KRYLITH_HD std::int64_t unscale() const { return kept(m); }
    [[nodiscard]] KRYLITH_HD std::int64_t size() const { return unscale() + 1; }
    /// The largest number of values in a batch.
    [[nodiscard]] KRYLITH_HD std::int64_t batch() const { return 2 * m + 1; }
};

/// Step j of a cycle of m, from 0 to m.
struct delayed_step {
    std::int64_t j;
    std::int64_t m;
    bool varying; ///< K differs from step to step
};

namespace detail {

/// Performs a step on the Hessenberg matrix at `array`. s, gamma, t, delta and omega lie at `s`,
/// and `start` is the squared length that the length of v_0 is measured by. The estimate and the
/// number of columns count the j columns before column j. O(j^2) for H s.
template <class Team>
KRYLITH_HD void delayed(const delayed_step& step, double start, double* const s, double* array,
                        const hessenberg_results& out, const Team& team) {
    const delayed_layout at{{step.m}};
    const std::int64_t j = step.j;
    const bool multiplied = j < step.m;
    double* const t = s + j + 1;
    double ss = 0;
    double st = 0;
    double tt = 0;
    for (std::int64_t k = team.index(); k < j; k += team.count()) {
        ss += s[k] * s[k];
        if (!multiplied) continue;
        st += s[k] * t[k];
        tt += t[k] * t[k];
    }
    ss = team.sum(ss);
    st = team.sum(st);
    tt = team.sum(tt);
    const double gamma = s[j];
    const double delta = multiplied ? t[j] : 0.0;
    const double omega = multiplied ? t[j + 1] : 0.0;
    const double unscale = j > 0 ? array[at.unscale()] : 0.0;
    double* const last = j > 0 ? array + at.kept(j - 1) : nullptr;
    double inside = 0; // squared length of what K v_{j-1} has in the space
    for (std::int64_t k = team.index(); k < j; k += team.count()) {
        last[k] += s[k] * unscale;
        inside += last[k] * last[k];
    }
    inside = team.sum(inside);

    // What rounding leaves of a vector inside the space is no new direction: it is negligible
    // beside K v_{j-1}, or (fp32) the second pass takes all of it away.
    const double square = gamma - ss;
    const bool vanished =
        square <= 1e-12 * gamma || (j > 0 && square * unscale * unscale <= 1e-28 * inside);
    const double alpha = vanished ? 0.0 : ::sqrt(square);
    const double inverse = vanished ? 0.0 : 1.0 / alpha;
    const double below = alpha * unscale;
    if (last == nullptr) { // j = 0
        if (team.index() == 0) array[at.rhs()] = ::sqrt(start) * alpha;
    } else {
        if (team.index() == 0) {
            last[j] = below;
            if (vanished) out.lucky = 1.0;
        }
        team.meet();
        for (std::int64_t k = team.index(); k <= j; k += team.count())
            array[at.column(j - 1) + k] = last[k];
        team.meet();
        if (team.index() == 0) take_in(at, j - 1, array, out);
    }
    team.meet();
    if (!multiplied) return;

    const double tau = (delta - st) * inverse;
    double* const next = array + at.kept(j);
    for (std::int64_t i = team.index(); i < j; i += team.count()) {
        // What v_j = 0 cannot take part in must not look like progress.
        if (step.varying) next[i] = vanished ? 0.0 : t[i];
        if (step.varying) continue;
        double sum = 0;
        for (std::int64_t k = i > 0 ? i - 1 : 0; k < j; ++k) sum += array[at.kept(k) + i] * s[k];
        next[i] = (t[i] - sum) * inverse;
    }
    team.meet(); // all have read what follows
    if (team.index() != 0) return;
    next[j] = step.varying ? tau : (j > 0 ? tau - below * s[j - 1] : tau) * inverse;
    const double rest = omega - tt - tau * tau;
    double phi = omega > 0 ? 1.0 / ::sqrt(fmax(rest, 1e-12 * omega)) : 0.0;
    if (!(rest - rest == 0.0)) phi = rest - rest; // NaN: the next step stops
    if (vanished) phi = 0;
    const double sigma = step.varying ? phi : phi * alpha;
    array[at.unscale()] = sigma > 0 ? 1.0 / sigma : 0.0;
    s[j] = inverse;
    t[j] = tau;
    t[j + 1] = phi;
}

} // namespace detail

} // namespace krylith
