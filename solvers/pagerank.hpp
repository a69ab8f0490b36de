// PageRank by changes: a vertex passes its rank on only when it has changed by more than a
// threshold, so that x is sparse as soon as most ranks stand, or from the start where the surfer
// begins at few vertices.
// (Incremental PageRank with sparse vectors: Li, Ao, Yang 2020. As a method to solve the linear
// system: Gleich, PageRank beyond the Web, SIAM Review 57, 2015.)
//
// The surfer follows an edge of his vertex, each equally likely, with probability d (damping), and
// else jumps to one of the sources, all vertices unless some are named. From a vertex without
// edges he jumps always. With P the shares of edges, v the jumps and 1'v = 1, ranks are r / 1'r for
//
//     (I - d P) r = v
//
// since jumps from dangling vertices only add a multiple of v: no sum over them in any step. Kept
// are r and the residual s = v - (I - d P) r >= 0. What a step passes on, x, moves from s to r, and
// d P x is added to s. A column of P has one value, so x is scaled by it and products add up x
// alone (plus_second): values of the matrix are not read, whatever they are.
//
// Error: r lies below its limit by (I - d P)^-1 s, which sums to |s| / (1 - d) at the most, so that
// ranks differ from their limits by 2 |s| / ((1 - d) |r|) or less, all vertices together (sums of
// magnitudes). The loop stops when that bound is within the tolerance, and not before; rounding
// comes on top, some 10 epsilon of T. With every vertex in every step this is the power method. The
// bound is looked at where nobody has enough to pass on, but not later than after the steps that
// method would take: the few vertices that get the most would go on for half as many.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/number_text.hpp>
#include <krylith/solvers/graph.hpp>
#include <krylith/solvers/graph_result.hpp>
#include <krylith/solvers/vertex_array.hpp>

namespace krylith {

struct pagerank_options {
    double damping = 0.85;                  ///< 0 <= damping < 1
    double tolerance = 1e-6;                ///< of the sum of all errors; 0 < tolerance < 1
    std::int64_t max_steps = 1000;          ///< 1 or more
    std::vector<std::int64_t> sources = {}; ///< where jumps lead, each once; empty: to all vertices
    spmspv::adaptive_options kernels = {};

    /// Throws usage_error naming the first value that is not allowed.
    void check() const;
};

template <class T>
struct [[nodiscard]] pagerank_result : graph_outcome {
    std::vector<T> ranks;   ///< sum to 1
    double error_bound = 0; ///< on the sum of |rank - exact rank|, rounding aside
};

/// Keeps its memory: beside the graph's 4 n values of T and what vectors take. About
/// log(tolerance) / log(d) steps. Bytes of one in which all ranks are passed on (a model, fp32): 4
/// an edge, the gather of x, and about 50 a vertex for y, the state and the next x.
template <class T>
class pagerank_iteration {
public:
    /// Throws usage_error unless the options are allowed.
    explicit pagerank_iteration(const graph<T>& g, pagerank_options options = {})
        : graph_(&g),
          options_(std::move(options)),
          a_(checked(g, options_), options_.kernels),
          ranks_(*g.matrix(), "ranks"),
          residuals_(*g.matrix(), "residuals"),
          passed_(*g.matrix(), "ranks passed on"),
          shares_(*g.matrix(), "shares of edges") {
        std::vector<T> shares;
        shares.reserve(as_size(g.vertices()));
        for (const std::int64_t edges : g.out_degrees())
            shares.push_back(edges == 0 ? T(0) : T(1) / static_cast<T>(edges));
        shares_.upload(shares);
    }

    pagerank_result<T> operator()() {
        pagerank_result<T> result;
        result.reason = graph_reason::converged;
        if (graph_->vertices() == 0) return result;
        graph_->group().synchronize();
        step_log log(result);
        begin();

        double threshold = options_.tolerance / static_cast<double>(graph_->vertices());
        std::int64_t look = steps_from(2); // at the bound, whatever is still to be passed on then
        for (;;) {
            a_.advance_all(passing(threshold));
            while (a_.entries() > 0) {
                const bool last = result.iterations() + 1 >= std::min(look, options_.max_steps);
                const auto record = a_.multiply();
                // Before the bound is looked at nothing is passed on: it needs all that is left in
                // s.
                a_.advance(passing(last ? std::numeric_limits<double>::infinity() : threshold));
                log.add(record);
            }
            result.error_bound = bound();
            if (result.error_bound <= options_.tolerance) {
                log.finish(graph_reason::converged);
                break;
            }
            if (result.iterations() == options_.max_steps) {
                log.finish(graph_reason::max_steps);
                break;
            }
            // The bound falls about as the threshold does: half of what should be enough, so that
            // few rounds are needed, but a tenth at the least: a lower one means a denser x.
            threshold *= std::max(0.1, 0.5 * options_.tolerance / result.error_bound);
            look = result.iterations() + steps_from(result.error_bound);
        }
        result.ranks = normalised(ranks_.download());
        return result;
    }

    /// What its products choose by.
    [[nodiscard]] const spmspv::kernel_model* model() const noexcept { return a_.model(); }

private:
    static const std::shared_ptr<const spmspv::group_matrix<T>>&
    checked(const graph<T>& g, const pagerank_options& options) {
        options.check();
        for (const std::int64_t source : options.sources)
            g.check_vertex("pagerank: a source", source);
        return g.matrix();
    }

    /// r = 0, s = v.
    void begin() {
        a_.restart();
        ranks_.fill(T(0));
        const auto& sources = options_.sources;
        const auto targets =
            sources.empty() ? graph_->vertices() : static_cast<std::int64_t>(sources.size());
        const T jump = T(1) / static_cast<T>(targets);
        residuals_.fill(sources.empty() ? jump : T(0));
        for (const std::int64_t source : sources) residuals_.set(source, jump);
    }

    auto passing(double threshold) {
        return [this, threshold](std::size_t m) {
            return spmspv::pass_on<T>{ranks_[m],
                                      residuals_[m],
                                      passed_[m],
                                      shares_[m],
                                      static_cast<T>(options_.damping),
                                      static_cast<T>(threshold)};
        };
    }

    /// That take such a bound to the tolerance: each brings what is under way down to d of it. At
    /// least 1.
    [[nodiscard]] std::int64_t steps_from(double bound) const {
        const double steps = std::log(options_.tolerance / bound) / std::log(options_.damping);
        return static_cast<std::int64_t>(std::ceil(std::max(steps, 1.0)));
    }

    /// Of the error, once nothing is under way.
    [[nodiscard]] double bound() {
        double s = 0;
        double r = 0;
        for (std::size_t m = 0; m < a_.members().size(); ++m) {
            const std::int64_t rows = a_.members()[m].rows.size();
            s += a_.filter(m).sum(residuals_[m], rows);
            r += a_.filter(m).sum(ranks_[m], rows);
        }
        const double most = 2; // of any two distributions
        return s == 0 ? 0 : std::min(most, 2 * s / ((1 - options_.damping) * r));
    }

    [[nodiscard]] static std::vector<T> normalised(std::vector<T> ranks) {
        double sum = 0;
        for (const T rank : ranks) sum += static_cast<double>(rank);
        for (T& rank : ranks) rank = static_cast<T>(static_cast<double>(rank) / sum);
        return ranks;
    }

    const graph<T>* graph_;
    pagerank_options options_;
    spmspv::group_product<spmspv::plus_second<T>, T> a_;
    vertex_array<T, T> ranks_;
    vertex_array<T, T> residuals_;
    vertex_array<T, T> passed_;
    vertex_array<T, T> shares_;
};

inline void pagerank_options::check() const {
    const auto refuse = [](const char* what, double found, const char* allowed) {
        throw usage_error(std::string("pagerank_options::") + what + " is " + number_text(found) +
                          ": allowed are " + allowed);
    };
    if (!(damping >= 0 && damping < 1)) refuse("damping", damping, "0 <= damping < 1");
    if (!(tolerance > 0 && tolerance < 1)) refuse("tolerance", tolerance, "0 < tolerance < 1");
    if (max_steps < 1) refuse("max_steps", static_cast<double>(max_steps), "1 and more");
    std::set<std::int64_t> met;
    for (const std::int64_t source : sources)
        if (!met.insert(source).second)
            throw usage_error("pagerank_options::sources has vertex " + std::to_string(source) +
                              " twice: allowed is each once");
}

template <class T>
pagerank_result<T> pagerank(const graph<T>& g, const pagerank_options& options = {}) {
    return pagerank_iteration<T>(g, options)();
}

} // namespace krylith
