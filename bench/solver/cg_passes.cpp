#include <krylith/bench/solver/cg_passes.hpp>

#include <memory>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>

namespace krylith::bench {

namespace {

struct cg_vectors {
    explicit cg_vectors(const matrix_operator<double>& a)
        : r(a.make_range_vector()),
          q(a.make_range_vector()),
          x(a.make_range_vector()),
          p(a.make_domain_vector("vectors")) {
        std::vector<double> start(static_cast<std::size_t>(a.size()));
        for (std::size_t i = 0; i < start.size(); ++i) {
            start[i] = 1.0 / static_cast<double>(1 + i % 1000);
        }
        for (auto* v : {&r, &q, &p}) {
            v->upload(start);
        }
    }

    vector<double> r;
    vector<double> q;
    vector<double> x;
    vector<double> p;
};

/// A loop of CG's passes with constant coefficients, but for one that is left out.
class pass_loop {
public:
    enum pass { none, product, residual, direction };

    pass_loop(const matrix_operator<double>& a, cg_vectors& v, execution_mode mode, int recording,
              pass without)
        : a_(a),
          v_(v),
          without_(without),
          loop_(a.comm(), {.mode = mode, .unroll = recording}),
          sum_(loop_.run()),
          small_(loop_.run()) {
        loop_.run().set(small_.number(), 1e-6); // the vectors hardly change
    }

    [[nodiscard]] double seconds(std::int64_t steps) {
        return loop_.seconds(steps, [this] {
            execution& run = loop_.run();
            if (without_ != product) {
                multiply(run, a_, v_.p, v_.q, sum_ = dot(v_.p, v_.q));
            }
            if (without_ != residual) {
                fused(run, v_.r -= small_ * v_.q, sum_ = dot(v_.r, v_.r));
            }
            if (without_ != direction) {
                fused(run, v_.x += small_ * v_.p, v_.p = v_.r + small_ * v_.p);
            }
        });
    }

private:
    const matrix_operator<double>& a_;
    cg_vectors& v_;
    pass without_;
    timed_loop loop_;
    scalar sum_;
    scalar small_;
};

} // namespace

cg_passes measure_passes(const matrix_operator<double>& a, execution_mode mode,
                         const slope_effort& effort) {
    if (a.comm().ranks() != 1) {
        throw usage_error("passes are measured on one device");
    }
    cg_vectors v(a);
    std::vector<std::unique_ptr<pass_loop>> loops;
    std::vector<timed_run> subjects;
    for (const auto without :
         {pass_loop::none, pass_loop::product, pass_loop::residual, pass_loop::direction}) {
        pass_loop& loop = *loops.emplace_back(
            std::make_unique<pass_loop>(a, v, mode, effort.recording(), without));
        subjects.emplace_back([&loop](std::int64_t steps) { return loop.seconds(steps); });
    }
    const std::vector<spread> times = measure_slopes(subjects, effort);
    const double total = times[0].median;
    return {total, total - times[1].median, total - times[2].median, total - times[3].median};
}

} // namespace krylith::bench
