#include <krylith/bench/cg_passes.hpp>

#include <vector>

#include <krylith/bench/repeated.hpp>
#include <krylith/device/error.hpp>
#include <krylith/solvers/concepts.hpp>

namespace krylith::bench {

namespace {

/// CG's passes with constant coefficients, some of them left out.
class pass_loop {
public:
    pass_loop(const matrix_operator<double>& a, execution_mode mode, std::span<const double> start)
        : a_(a),
          r_(a.make_vector()),
          q_(a.make_vector()),
          x_(a.make_vector()),
          p_(a.make_operand("vectors")),
          loop_(a.share_layout()->group, mode),
          sum_(loop_.run()),
          small_(loop_.run()) {
        for (auto* v : {&r_, &q_, &p_}) {
            v->upload(start);
        }
        loop_.run().set(small_.number(), 1e-6); // the vectors hardly change
    }

    [[nodiscard]] double seconds(std::int64_t steps, bool product, bool residual, bool direction) {
        return loop_.seconds(steps, [&] {
            execution& run = loop_.run();
            if (product) {
                multiply(run, a_, p_, q_, sum_ = dot(p_, q_));
            }
            if (residual) {
                fused(run, r_ -= small_ * q_, sum_ = dot(r_, r_));
            }
            if (direction) {
                fused(run, x_ += small_ * p_, p_ = r_ + small_ * p_);
            }
        });
    }

private:
    const matrix_operator<double>& a_;
    vector<double> r_;
    vector<double> q_;
    vector<double> x_;
    vector<double> p_;
    repeated loop_;
    scalar sum_;
    scalar small_;
};

} // namespace

cg_passes measure_passes(const matrix_operator<double>& a, execution_mode mode,
                         const slope_effort& effort) {
    if (a.share_layout()->group.size() != 1) {
        throw usage_error("passes are measured on one device");
    }
    std::vector<double> start(static_cast<std::size_t>(a.size()));
    for (std::size_t i = 0; i < start.size(); ++i) {
        start[i] = 1.0 / static_cast<double>(1 + i % 1000);
    }
    pass_loop all(a, mode, start);
    pass_loop no_product(a, mode, start);
    pass_loop no_residual(a, mode, start);
    pass_loop no_direction(a, mode, start);
    const std::vector<timed_run> subjects = {
        [&](std::int64_t steps) { return all.seconds(steps, true, true, true); },
        [&](std::int64_t steps) { return no_product.seconds(steps, false, true, true); },
        [&](std::int64_t steps) { return no_residual.seconds(steps, true, false, true); },
        [&](std::int64_t steps) { return no_direction.seconds(steps, true, true, false); }};
    const std::vector<spread> times = measure_slopes(subjects, effort);
    const double total = times[0].median;
    return {total, total - times[1].median, total - times[2].median, total - times[3].median};
}

} // namespace krylith::bench
