#include <krylith/precond/amg/cycle.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/precond/columns/columns_at_once.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::detail {

template <class T, class W>
template <class Source>
multigrid_cycle_apply<T, W>::multigrid_cycle_apply(layout_handle fine, const Source& source,
                                                   const amg_options& options,
                                                   near_null_space<W> near_null,
                                                   const column_vectors& vectors)
    : hierarchy_(std::move(fine), source, options, std::move(near_null), vectors),
      columns_(vectors.columns),
      cycle_(options.cycle) {
    if (lacks_digits()) return;
    steps_ = relaxation_of(options.relaxation, hierarchy_.unsymmetric()).steps(options.degree);
    make_vectors();
}

template <class T, class W>
void multigrid_cycle_apply<T, W>::make_vectors() {
    const auto& levels = hierarchy_.levels();
    vectors_.clear();
    spread_r_.reset();
    for (std::size_t at = 0; at < levels.size(); ++at) {
        const multigrid_level<W>& level = levels[at];
        cycle_vectors<W> v;
        if (level.inverse)
            v.r.emplace(level.inverse->make_domain_vector(precond_item));
        else if (level.restrict)
            v.r.emplace(level.restrict->make_domain_vector(precond_item));
        else
            v.r.emplace(level.layout, precond_item);
        if (level.b) {
            v.z.emplace(level.b->make_domain_vector(precond_item));
            v.z->promise_single_reader();
            v.x.emplace(level.layout, precond_item);
        }
        if (at > 0)
            v.e.emplace(levels[at - 1].prolong->make_domain_vector(precond_item));
        else if (level.inverse)
            v.e.emplace(level.layout, precond_item);
        vectors_.push_back(std::move(v));
        if (level.copy) spread_r_.emplace(level.copy->make_domain_vector(precond_item));
    }
    if (!scale_) scale_.emplace(levels.front().layout, precond_item);
    take_scale();
}

/// Rounds S of the first level.
template <class T, class W>
void multigrid_cycle_apply<T, W>::take_scale() {
    const multigrid_level<W>& first = hierarchy_.levels().front();
    *in_ = 1 / first.scaling.bound;
    *out_ = moderate_factor<T>(take_moderate(first.scaling, first.first_owned, columns_, *scale_));
}

template <class T, class W>
bool multigrid_cycle_apply<T, W>::update(const distributed_csr<T>& a, const amg_options& options) {
    refuse_new_values("amg", columns_);
    if (!hierarchy_.update(a, options)) return false;
    take_scale();
    hierarchy_.complete();
    return true;
}

/// Changes nothing unless all of it is there.
template <class T, class W>
bool multigrid_cycle_apply<T, W>::rebuild(const distributed_csr<T>& a, const amg_options& options) {
    refuse_new_values("amg", columns_);
    multigrid_cycle_apply fresh(hierarchy_.fine(), a, options, hierarchy_.given(), {});
    if (sizeof(W) < sizeof(T) && fresh.lacks_digits()) return false;
    std::swap(steps_, fresh.steps_); // new values may have made another kind of it
    std::swap(vectors_, fresh.vectors_);
    std::swap(spread_r_, fresh.spread_r_);
    std::swap(scale_, fresh.scale_);
    std::swap(hierarchy_, fresh.hierarchy_);
    *in_ = *fresh.in_;
    *out_ = *fresh.out_;
    return true;
}

// On each level x is the sum of changes. Between two passes z is the last change; a product takes
// it from r. Each change is added to x in the pass that makes it, but for the last of a visit,
// which goes with x to where the result is wanted.

/// Changes x by `degree` steps. `from_zero`: x = 0, r is what it is to solve for; otherwise r lacks
/// the change z, which x has.
template <class T, class W>
void multigrid_cycle_apply<T, W>::smooth_before(execution& run, std::size_t at, bool from_zero) {
    const multigrid_level<W>& level = hierarchy_.levels()[at];
    auto& [r, z, x, e] = vectors_[at];
    const auto constant = [&](double c) { return scalar_value{&run, run.constant(c)}; };
    if (!from_zero) {
        level.b->apply(run, W(-1), *z, W(1), *r);
        fused(run, *z = constant(steps_.front().c) * *r, *x += *z);
    } else if (at != 0) { // on the first level the pass that takes r in has done it
        fused(run, *z = constant(steps_.front().c) * *r, *x = *z);
    }
    for (std::size_t k = 1; k < steps_.size(); ++k) {
        level.b->apply(run, W(-1), *z, W(1), *r);
        fused(run, *z = constant(steps_[k].a) * *z + constant(steps_[k].c) * *r, *x += *z);
    }
}

/// Solves for r on the next level, and leaves the correction in z.
template <class T, class W>
void multigrid_cycle_apply<T, W>::correct(execution& run, std::size_t at) {
    const multigrid_level<W>& level = hierarchy_.levels()[at];
    auto& [r, z, x, e] = vectors_[at];
    cycle_vectors<W>& next = vectors_[at + 1];
    level.b->apply(run, W(-1), *z, W(1), *r);
    put_ghosts(run, *r);
    level.restrict->apply(run, W(1), *r, W(0), level.copy ? *spread_r_ : *next.r);
    if (level.copy) {
        put_ghosts(run, *spread_r_);
        level.copy->apply(run, W(1), *spread_r_, W(0), *next.r);
    }
    const bool twice =
        cycle_ == multigrid_cycle::w && at > 0 && hierarchy_.levels()[at + 1].restrict;
    visit(run, at + 1, true, twice);
    if (twice) visit(run, at + 1, false, false);
    level.prolong->apply(run, W(1), *next.e, W(0), *z);
    put_ghosts(run, *z);
}

/// Takes the correction z, and changes x by all but the last of `degree` steps.
template <class T, class W>
void multigrid_cycle_apply<T, W>::smooth_after(execution& run, std::size_t at) {
    const multigrid_level<W>& level = hierarchy_.levels()[at];
    auto& [r, z, x, e] = vectors_[at];
    const auto constant = [&](double c) { return scalar_value{&run, run.constant(c)}; };
    for (std::size_t k = 0; k < steps_.size(); ++k) {
        level.b->apply(run, W(-1), *z, W(1), *r);
        if (k + 1 == steps_.size()) break;
        if (k == 0)
            fused(run, *x += *z, *z = constant(steps_[k].c) * *r, *x += *z);
        else
            fused(run, *z = constant(steps_[k].a) * *z + constant(steps_[k].c) * *r, *x += *z);
    }
}

/// The factors of z and r in the last change. A single step has the correction in z.
template <class T, class W>
relaxation_step multigrid_cycle_apply<T, W>::last_step() const {
    return steps_.size() == 1 ? relaxation_step{1, steps_.front().c} : steps_.back();
}

/// Improves x on a level. Its result is left in e; where it is to be visited again, in x, with the
/// last change in z. On the first level the last change is left to the caller.
template <class T, class W>
void multigrid_cycle_apply<T, W>::visit(execution& run, std::size_t at, bool from_zero,
                                        bool again) {
    const multigrid_level<W>& level = hierarchy_.levels()[at];
    auto& [r, z, x, e] = vectors_[at];
    const auto constant = [&](double c) { return scalar_value{&run, run.constant(c)}; };
    if (level.inverse) {
        put_ghosts(run, *r);
        level.inverse->apply(run, W(1), *r, W(0), *e);
        if (at != 0) put_ghosts(run, *e);
        return;
    }
    smooth_before(run, at, from_zero);
    if (!level.restrict) {
        if (at != 0) fused(run, *e = *x);
        return;
    }
    correct(run, at);
    smooth_after(run, at);
    const relaxation_step last = last_step();
    if (at == 0) return;
    if (!again)
        fused(run, *e = linear_combination<W>(*x) + constant(last.a) * *z + constant(last.c) * *r);
    else if (steps_.size() == 1)
        fused(run, *x += *z, *z = constant(last.c) * *r, *x += *z);
    else
        fused(run, *z = constant(last.a) * *z + constant(last.c) * *r, *x += *z);
}

template <class T, class W>
void multigrid_cycle_apply<T, W>::apply(execution& run, const vector<T>& r, vector<T>& z,
                                        std::span<const reduction_into<T>> dots) {
    if (!hierarchy_.whole())
        throw usage_error("amg: the last update() failed; M can be used after one that succeeds");
    apply_without_order(
        run, hierarchy_.levels().front().layout, r, z, dots,
        [&](const vector<T>& from, vector<T>& to, std::span<const reduction_into<T>> now) {
            run_cycle(run, from, to, now);
        });
}

/// In, B x = S r / (rho |r|); out, z = |r| S x. Of several columns each has norm 1 or 0 by itself.
template <class T, class W>
void multigrid_cycle_apply<T, W>::run_cycle(execution& run, const vector<T>& from, vector<T>& to,
                                            std::span<const reduction_into<T>> dots) {
    const multigrid_level<W>& level = hierarchy_.levels().front();
    auto& [r, z, x, e] = vectors_.front();
    const auto constant = [&](double c) { return scalar_value{&run, run.constant(c)}; };
    std::optional<scalar_value> rr;
    if (columns_ == 1) {
        rr = scalar_value{&run, norm_.in(run)};
        fused(run, reduction_into<T>{rr->number, &from, &from});
    }
    scalar_value in{&run, run.follow(in_)};
    if (rr) in = divide_or_zero(in, sqrt(*rr));
    if (level.inverse)
        fused(run, *r = in * pointwise(*scale_, from));
    else
        fused(run, *r = in * pointwise(*scale_, from),
              *z = promote<T>(constant(steps_.front().c) * *r), *x = promote<T>(*z));
    visit(run, 0, true, false);

    scalar_value out{&run, run.follow(out_)};
    if (rr) out = sqrt(*rr) * out;
    const auto part = [&](const scalar_value& factor, const vector<W>& v) {
        return factor * promote<T>(pointwise(*scale_, v));
    };
    if (level.inverse) {
        fused(run, to = part(out, *e), dots);
    } else if (!level.restrict) {
        fused(run, to = part(out, *x), dots);
    } else {
        const relaxation_step last = last_step();
        fused(run,
              to = part(out, *x) + part(out * constant(last.a), *z) +
                   part(out * constant(last.c), *r),
              dots);
    }
}

template <class T, class W>
bool multigrid_cycle_apply<T, W>::recordable() const {
    return std::ranges::all_of(hierarchy_.levels(), [](const multigrid_level<W>& level) {
        for (const auto* of :
             {&level.b, &level.prolong, &level.restrict, &level.inverse, &level.copy})
            if (*of && !(*of)->recordable()) return false;
        return true;
    });
}

template <class T, class W>
std::int64_t multigrid_cycle_apply<T, W>::bytes() const {
    const auto most_held = [](const layout& layout) {
        std::int64_t most = 0;
        for (const int rank : layout.comm.local()) most = std::max(most, layout.held(rank));
        return most;
    };
    std::int64_t entries = 0;
    const auto& levels = hierarchy_.levels();
    for (std::size_t at = 0; at < levels.size(); ++at) {
        const auto& v = vectors_[at];
        entries +=
            most_held(*levels[at].layout) * (v.r.has_value() + v.z.has_value() + v.x.has_value() +
                                             v.e.has_value() + (at == 0 ? 1 : 0));
        if (levels[at].copy) entries += most_held(*levels[at].restricted);
    }
    return hierarchy_.bytes() + entries * static_cast<std::int64_t>(sizeof(W));
}

template <class T, class W>
std::vector<multigrid_level_facts> multigrid_cycle_apply<T, W>::levels() const {
    std::vector<multigrid_level_facts> facts;
    for (const auto& level : hierarchy_.levels()) facts.push_back(level.facts);
    return facts;
}

#define KRYLITH_INSTANTIATE(T, W, SOURCE)                                                          \
    template multigrid_cycle_apply<T, W>::multigrid_cycle_apply(                                   \
        layout_handle, const SOURCE&, const amg_options&, near_null_space<W>,                      \
        const column_vectors&);

template class multigrid_cycle_apply<double, double>;
template class multigrid_cycle_apply<double, float>;
template class multigrid_cycle_apply<float, float>;
KRYLITH_INSTANTIATE(double, double, distributed_csr<double>)
KRYLITH_INSTANTIATE(double, float, distributed_csr<double>)
KRYLITH_INSTANTIATE(float, float, distributed_csr<float>)
KRYLITH_INSTANTIATE(double, double, std::span<const multigrid_level_matrices<double>>)
KRYLITH_INSTANTIATE(double, float, std::span<const multigrid_level_matrices<double>>)
KRYLITH_INSTANTIATE(float, float, std::span<const multigrid_level_matrices<float>>)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::detail
