#include <krylith/bench/cg_passes.hpp>

#include <vector>

#include <krylith/bench/repeated.hpp>
#include <krylith/device/error.hpp>
#include <krylith/solvers/concepts.hpp>

namespace krylith::bench {

namespace {

spread measure(const device_group& group, execution_mode mode, const slope_effort& effort,
               const std::function<void(execution&, scalar&, scalar&)>& pass) {
    repeated loop(group, mode);
    scalar sum(loop.run());
    scalar small(loop.run());
    loop.run().set(small.number(), 1e-3); // keeps the vectors bounded and no value trivial
    return measure_slope(
        [&](std::int64_t steps) {
            return loop.seconds(steps, [&] { pass(loop.run(), sum, small); });
        },
        effort);
}

} // namespace

cg_passes measure_passes(const matrix_operator<double>& a, execution_mode mode,
                         const slope_effort& effort) {
    const device_group& group = a.share_layout()->group;
    if (group.size() != 1) {
        throw usage_error("passes are measured on one device");
    }
    auto r = a.make_vector();
    auto q = a.make_vector();
    auto x = a.make_vector();
    auto p = a.make_operand();
    std::vector<double> values(static_cast<std::size_t>(a.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 1.0 / static_cast<double>(1 + i % 1000);
    }
    for (auto* v : {&r, &q, &p}) {
        v->upload(values);
    }
    cg_passes result;
    result.product = measure(group, mode, effort, [&](execution& run, scalar& sum, scalar&) {
        multiply(run, a, p, q, sum = dot(p, q));
    });
    result.residual = measure(group, mode, effort, [&](execution& run, scalar& sum, scalar& small) {
        fused(run, r -= small * q, sum = dot(r, r));
    });
    result.direction = measure(group, mode, effort, [&](execution& run, scalar&, scalar& small) {
        fused(run, x += small * p, p = r + small * p);
    });
    return result;
}

} // namespace krylith::bench
