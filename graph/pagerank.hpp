// PageRank by changes of the ranks.
//
// With probability d (damping) the surfer follows an edge of the vertex, each equally likely, and
// else jumps to one of the sources, which are all vertices unless some are named. From a vertex
// without edges the surfer always jumps. With P the transition probabilities along edges, v the
// probabilities of jumps and 1'v = 1, ranks are r / 1'r for
//
//     (I - d P) r = v
//
// because jumps from dangling vertices only add a multiple of v: no step sums over them. (As a
// linear system: Gleich, PageRank beyond the Web, SIAM Review 57, 2015.) The algorithm keeps r and
// the residual s = v - (I - d P) r. A column of P has one value, so vertices pass on what is
// already scaled by it and products add up x alone (plus_second), without values of the matrix.
//
// Where the surfer starts from named vertices few ranks change at first: a vertex passes its
// residual on only when that is above a threshold, so that x is sparse. (Incremental PageRank, as
// Li, Ao and Yang 2020 use it; they have it from the thesis of S. Ramachandran, 2016.) As soon as a
// step follows half of all edges, and from the start where jumps lead anywhere, all vertices pass
// on in dense steps (graph/frontier/power_step.hpp). These are steps of the power method, from r =
// v / (1 - d), whose errors fall by d |lambda_2|. Where the graph is undirected and errors fall
// more slowly than that, steps are weighted and errors fall by (1 - sqrt(1 - d^2)) / d: 0.56
// instead of 0.85.
//
// Error: r differs from its limit by (I - d P)^-1 s, which sums to at most |s| / (1 - d). All ranks
// together differ from their limits by at most 2 |s| / ((1 - d) |r|) (sums of magnitudes). The
// loop stops only when that bound is within the tolerance; rounding adds some 10 epsilon of T. With
// a threshold the bound is checked where no vertex has enough to pass on, at the latest after as
// many steps as the power method would take: otherwise the few vertices that receive the most would
// continue for half as many more. Dense steps check it when it should suffice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <krylith/graph/frontier/vertex_array.hpp>
#include <krylith/graph/graph.hpp>
#include <krylith/graph/pagerank/chebyshev_weights.hpp>
#include <krylith/graph/pagerank/error_bound.hpp>
#include <krylith/graph/pagerank/normalised.hpp>
#include <krylith/graph/result/graph_result.hpp>

namespace krylith {

struct pagerank_options {
    double damping = 0.85;                  ///< 0 <= damping < 1
    double tolerance = 1e-6;                ///< the largest sum of all errors; 0 < tolerance < 1
    std::int64_t max_steps = 1000;          ///< 1 or more
    std::vector<std::int64_t> sources = {}; ///< the targets of jumps, each once; empty: all
                                            ///< vertices
    spmspv::adaptive_options kernels = {};

    /// Throws usage_error naming the first value that is not allowed.
    void check() const;
};

template <class T>
struct [[nodiscard]] pagerank_result : graph_outcome {
    std::vector<T> ranks;   ///< sum to 1
    double error_bound = 0; ///< bounds the sum of |rank - exact rank|, rounding aside
};

/// A computation that keeps its memory: 4 n values of T beside the graph and the vectors. It takes
/// at most about log(tolerance) / log(d) steps, on undirected graphs 28 / 85 of that.
/// graph/frontier/power_step.hpp has the bytes of a step in which all ranks are passed on.
template <class T>
class pagerank_iteration {
public:
    /// Throws usage_error for options that are not allowed.
    explicit pagerank_iteration(const graph<T>& g, pagerank_options options = {})
        : graph_(&g),
          options_(std::move(options)),
          bound_(options_.damping, options_.tolerance),
          a_(checked(g, options_), options_.kernels),
          ranks_(*g.matrix(), "ranks"),
          residuals_(*g.matrix(), "residuals"),
          passed_(*g.matrix(), "ranks passed on"),
          inverse_degrees_(*g.matrix(), "inverse degrees") {
        std::vector<T> inverse_degrees;
        inverse_degrees.reserve(as_size(g.vertices()));
        for (const std::int64_t edges : g.out_degrees())
            inverse_degrees.push_back(edges == 0 ? T(0) : T(1) / static_cast<T>(edges));
        inverse_degrees_.upload(inverse_degrees);
    }

    pagerank_result<T> operator()() {
        pagerank_result<T> result;
        result.devices = std::ssize(a_.local());
        result.reason = graph_reason::converged;
        if (graph_->vertices() == 0) return result;
        graph_->group().synchronize();
        step_log log(result);
        begin();

        const bool anywhere = options_.sources.empty();
        if (anywhere || !pass_few(result, log)) pass_all(result, log, anywhere);
        result.ranks = normalised(dense_ ? ranks_and_residuals() : ranks_.download());
        return result;
    }

    /// The model that chooses kernels.
    [[nodiscard]] const spmspv::kernel_model* model() const noexcept { return a_.model(); }

private:
    static const std::shared_ptr<const spmspv::group_matrix<T>>&
    checked(const graph<T>& g, const pagerank_options& options) {
        options.check();
        for (const std::int64_t source : options.sources)
            g.check_vertex("pagerank: a source", source);
        return g.matrix();
    }

    /// Sets r = 0, and s = v where sources are named.
    void begin() {
        a_.restart();
        dense_ = false;
        ranks_.fill(T(0));
        const auto& sources = options_.sources;
        if (sources.empty()) return;
        residuals_.fill(T(0));
        for (const std::int64_t source : sources) residuals_.set(source, static_cast<T>(jump()));
    }

    [[nodiscard]] double jump() const {
        const auto& sources = options_.sources;
        const auto targets =
            sources.empty() ? graph_->vertices() : static_cast<std::int64_t>(sources.size());
        return 1 / static_cast<double>(targets);
    }
    [[nodiscard]] double damping() const noexcept { return options_.damping; }

    /// Runs steps with a threshold until the result is complete. Returns false when x has become
    /// dense; the next step's product is then due.
    bool pass_few(pagerank_result<T>& result, step_log& log) {
        double threshold = options_.tolerance / static_cast<double>(graph_->vertices());
        std::int64_t due = bound_.steps_from(2); // this step checks the bound in any case
        for (;;) {
            a_.advance_all(passing(threshold));
            while (a_.entries() > 0) {
                if (2 * a_.frontier_nonzeros() > graph_->edges() &&
                    result.iterations() < options_.max_steps)
                    return false;
                const bool last = result.iterations() + 1 >= std::min(due, options_.max_steps);
                const auto record = a_.multiply();
                // Nothing is passed on before the bound is checked: it needs everything in s.
                a_.advance(passing(last ? std::numeric_limits<double>::infinity() : threshold));
                log.add(record);
            }
            result.error_bound = std::min(bound(), pagerank_bound::most);
            if (ended(result, log)) return true;
            // The bound falls about as the threshold does. Half of what should be enough keeps the
            // rounds few, but not less than a tenth: a lower threshold means a denser x.
            threshold *= std::max(0.1, 0.5 * options_.tolerance / result.error_bound);
            due = result.iterations() + bound_.steps_from(result.error_bound);
        }
    }

    /// Runs steps of all vertices. With `first` r is still to be passed on, else x has been.
    void pass_all(pagerank_result<T>& result, step_log& log, bool first) {
        dense_ = true;
        std::optional<chebyshev_weights> weights; // none: the power method
        std::optional<bound_check> before;
        double mean_correction = 0;
        keeping_ = first ? kept::nothing : kept::residuals; // those that pass_few() left
        if (first) {
            const double rank = jump() / (1 - damping());
            a_.step_all(power_step(1, rank));
            mean_correction = jump() - rank; // s = v - r
        }
        for (std::int64_t due = result.iterations() + 1;;) {
            const bool checks = result.iterations() + 1 >= std::min(due, options_.max_steps);
            const auto record = a_.multiply_and_step(
                power_step(weights ? weights->next() : 1, mean_correction), checks);
            mean_correction = 0;
            if (!weights) keeping_ = kept::nothing;
            log.add(record);
            if (!checks) continue;
            const std::int64_t step = result.iterations();
            const bound_check now = check_at(step);
            result.error_bound = std::min(now.bound, pagerank_bound::most);
            if (ended(result, log)) return;
            due = step + 1;
            // Dangling vertices take surfers out, and that change would die down by only about d a
            // step. But ranks belong to any multiple of v, so the one is taken with which residuals
            // will add up to 0.
            if (first && !graph_->undirected()) mean_correction = -now.surplus * jump();
            if (before) {
                double rate = std::pow(now.bound / before->bound,
                                       1 / static_cast<double>(now.step - before->step));
                const chebyshev_weights faster(damping());
                if (!weights && graph_->undirected() && rate > faster.rate()) {
                    weights = faster;
                    keeping_ = kept::residuals_and_changes;
                    residuals_.fill(T(0));
                    rate = faster.rate();
                }
                if (mean_correction == 0 || std::fabs(now.surplus) < 0.1 * now.magnitudes)
                    due = step + bound_.steps_to_next_check(now.bound, rate);
            }
            before = now;
        }
    }

    /// Whether the bound is within the tolerance or the steps have run out; logs which.
    bool ended(const pagerank_result<T>& result, step_log& log) {
        if (result.error_bound <= options_.tolerance) {
            log.finish(graph_reason::converged);
            return true;
        }
        if (result.iterations() < options_.max_steps) return false;
        log.finish(graph_reason::max_steps);
        return true;
    }

    auto passing(double threshold) {
        return [this, threshold](std::size_t m) {
            return spmspv::pass_on<T>{ranks_[m],
                                      residuals_[m],
                                      passed_[m],
                                      inverse_degrees_[m],
                                      static_cast<T>(options_.damping),
                                      static_cast<T>(threshold)};
        };
    }

    /// Returns the bound on the error, when no x is left to be passed on.
    [[nodiscard]] double bound() {
        double s = 0;
        double r = 0;
        for (std::size_t m = 0; m < a_.local().size(); ++m) {
            const std::int64_t rows = a_.local()[m].rows.size();
            s += a_.filter(m).sum(residuals_[m], rows);
            r += a_.filter(m).sum(ranks_[m], rows);
        }
        return bound_.of(s, r);
    }

    /// What a dense step reads from the step before and keeps for the next.
    enum class kept : std::uint8_t { nothing, residuals, residuals_and_changes };

    auto power_step(double weight, double mean_correction) {
        return [=, this](std::size_t m) {
            const bool changes = keeping_ == kept::residuals_and_changes;
            return spmspv::power_step<T>{ranks_[m],
                                         keeping_ != kept::nothing ? residuals_[m] : nullptr,
                                         changes ? passed_[m] : nullptr,
                                         inverse_degrees_[m],
                                         static_cast<T>(options_.damping),
                                         static_cast<T>(weight),
                                         static_cast<T>(mean_correction)};
        };
    }

    /// Returns the bound for r + s, where r are the ranks before the last dense step. That is one
    /// step of the power method more, in which errors fall to at most d of themselves, and it is
    /// what is downloaded.
    [[nodiscard]] bound_check check_at(std::int64_t step) {
        double magnitudes = 0;
        double residuals = 0;
        double ranks = 0;
        for (std::size_t m = 0; m < a_.local().size(); ++m) {
            const auto sums = a_.filter(m).sums();
            magnitudes += sums.magnitudes;
            residuals += sums.residuals;
            ranks += sums.ranks;
        }
        return {step, bound_.of(damping() * magnitudes, ranks - magnitudes), residuals, magnitudes};
    }

    /// Returns the ranks after a dense step: ranks_ holds r + c and residuals_, if kept, s - c.
    [[nodiscard]] std::vector<T> ranks_and_residuals() const {
        if (keeping_ == kept::nothing) return sum_of_ranks(ranks_.download(), {});
        return sum_of_ranks(ranks_.download(), residuals_.download());
    }

    unmoved<const graph<T>*> graph_;
    pagerank_options options_;
    pagerank_bound bound_;
    spmspv::group_product<spmspv::plus_second<T>, T> a_;
    vertex_array<T, T> ranks_;
    vertex_array<T, T> residuals_;
    vertex_array<T, T> passed_; ///< what each edge carries; in dense steps changes of ranks
    vertex_array<T, T> inverse_degrees_;
    bool dense_ = false; ///< the last step was a dense one
    kept keeping_ = kept::nothing;
};

template <class T>
pagerank_result<T> pagerank(const graph<T>& g, const pagerank_options& options = {}) {
    return pagerank_iteration<T>(g, options)();
}

} // namespace krylith
