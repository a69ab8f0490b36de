#include <krylith/bench/factors/factors_measure.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include <fmt/format.h>

#include <krylith/bench/common/device_arrays.hpp>
#include <krylith/bench/factors/factors_check.hpp>
#include <krylith/comm/local/each_rank.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/ic0.hpp>
#include <krylith/precond/ilu0.hpp>
#include <krylith/precond/incomplete/factor_block.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

constexpr int applications = 5; ///< in a row, so that what a wait costs is divided by them
constexpr double allowed_factors_error = 1e-13;

void add_reason(std::vector<std::string>& reasons, const std::string& why) {
    if (std::ranges::find(reasons, why) == reasons.end()) reasons.push_back(why);
}

row_partition rows_of(const device_group& group, const workload& w) {
    return partition_rows(csr_view<double>(w.matrix), group.size());
}

/// The steps of a construction, which ilu0 makes in this order.
class construction_steps {
public:
    construction_steps(const device_group& group, const workload& w, elimination_order order)
        : group_(group), w_(w), by_colours_(order == elimination_order::colours) {}

    /// Returns the error of the factors where it is asked for, else 0.
    double once(const layout& rows, std::span<const csr_part<double>> parts, factors_phases* phases,
                bool checks) {
        tool::stopwatch watch;
        const auto note = [&](const char* name) {
            group_.synchronize();
            const double seconds = watch.lap();
            if (phases != nullptr) phases->note(name, seconds);
        };
        const distributed_csr<double> a = detail::on_devices<double>("bench factors", rows, parts);
        note("copy");
        row_colours colours;
        if (by_colours_) colours = colour_rows(a);
        if (by_colours_) note("colours");
        std::vector<std::unique_ptr<incomplete::factor_block<double>>> blocks(
            static_cast<std::size_t>(group_.size()));
        const auto each = [&](const auto& work) {
            on_each_rank(group_,
                         [&](int rank) { work(rank, blocks[static_cast<std::size_t>(rank)]); });
        };
        each([&](int rank, auto& block) {
            block = std::make_unique<incomplete::factor_block<double>>(
                a, rank, by_colours_ ? &colours : nullptr, incomplete::factor_rule{});
        });
        note("layout");
        each([&](int, auto& block) { (void)block->factor(); });
        note("elimination");
        each([&](int, auto& block) { block->accept(); });
        note("triangles");
        double error = 0;
        for (int rank = 0; checks && rank < group_.size(); ++rank)
            error = std::max(
                error,
                error_of_factors(w_.matrix, rows.rows.owned(rank),
                                 blocks[static_cast<std::size_t>(rank)]->factors().download(),
                                 by_colours_ ? order_of(colours, rank, rows.rows)
                                             : std::vector<std::int32_t>()));
        return error;
    }

private:
    [[nodiscard]] std::vector<std::int32_t> order_of(const row_colours& colours, int rank,
                                                     const row_partition& rows) const {
        std::vector<std::int32_t> order(static_cast<std::size_t>(rows.owned(rank).size()));
        if (!order.empty())
            group_[rank].download(order.data(), colours.order(rank),
                                  order.size() * sizeof(std::int32_t));
        return order;
    }

    const device_group& group_;
    const workload& w_;
    bool by_colours_;
};

class factors_measurement {
public:
    factors_measurement(const device_group& group, const workload& w, elimination_order order)
        : group_(group), w_(w), order_(order), arrays_(group, w, rows_of(group, w)) {}

    factors_numbers run(int repetitions) {
        const auto a = make_operator<double>(group_, arrays_.parts());
        for (int i = -1; i < repetitions; ++i) once(*a, i >= 0);
        if (order_ == elimination_order::automatic) return std::move(numbers_);
        construction_steps steps(group_, w_, order_);
        for (int i = -1; i < repetitions; ++i)
            numbers_.factors_error = std::max(
                numbers_.factors_error, steps.once(*a->layout(), arrays_.parts(),
                                                   i >= 0 ? &numbers_.phases : nullptr, i < 0));
        if (!(numbers_.factors_error <= allowed_factors_error))
            add_reason(
                numbers_.void_because,
                fmt::format("L U differs from A on the pattern by {:.1e}", numbers_.factors_error));
        return std::move(numbers_);
    }

private:
    void once(const matrix_operator<double>& a, bool keep) {
        auto r = a.make_range_vector();
        auto z = a.make_range_vector();
        r.upload(w_.b);
        group_.synchronize();
        const auto note = [&](const char* name, double seconds) {
            if (keep) numbers_.phases.note(name, seconds);
        };
        tool::stopwatch watch;
        ilu0<double> m(a, arrays_.parts(), {.order = order_});
        group_.synchronize();
        note("construction", watch.lap());
        {
            execution run(group_, {});
            m.apply(run, r, z);
        }
        compare(z, "two factorisations");

        watch = {};
        m.update(arrays_.parts());
        group_.synchronize();
        note("update", watch.lap());
        execution run(group_, {});
        m.apply(run, r, z);
        compare(z, "factors and those of the same values again");
        watch = {};
        for (int i = 0; i < applications; ++i) m.apply(run, r, z);
        group_.synchronize();
        note("application", watch.lap() / applications);
        numbers_.preconditioner = m.name();
        numbers_.reason = m.reason();
        numbers_.colours = m.colours();
        numbers_.nonzeros = m.nonzeros();
        numbers_.bytes = m.bytes();
    }

    void compare(const vector<double>& z, const char* whose) {
        std::vector<double> values(w_.b.size());
        z.download(values);
        if (expected_.empty()) expected_ = values;
        if (std::memcmp(expected_.data(), values.data(), values.size() * sizeof(double)) != 0)
            add_reason(numbers_.void_because, fmt::format("applications of {} differ", whose));
    }

    device_group group_;
    const workload& w_;
    elimination_order order_;
    device_arrays arrays_;
    std::vector<double> expected_;
    factors_numbers numbers_;
};

any_preconditioner<double> make_compared(const std::string& text, const matrix_operator<double>& a,
                                         std::span<const csr_part<double>> parts) {
    if (text == "none") return {};
    if (text == "jacobi") return jacobi<double>(a);
    return ic0<double>(a, parts,
                       {.order = text == "ic0:order=natural" ? elimination_order::natural
                                                             : elimination_order::colours});
}

} // namespace

void factors_phases::note(const std::string& name, double seconds) {
    auto found = std::ranges::find(phases_, name, &factors_phase::name);
    if (found == phases_.end()) found = phases_.insert(found, {name, {}});
    found->seconds.push_back(seconds);
}

const factors_phase* factors_phases::find(const std::string& name) const {
    const auto found = std::ranges::find(phases_, name, &factors_phase::name);
    return found == phases_.end() ? nullptr : &*found;
}

factors_numbers measure_factors(const device_group& group, const workload& w,
                                elimination_order order, int repetitions) {
    return factors_measurement(group, w, order).run(repetitions);
}

solve_numbers measure_solve(const device_group& group, const workload& w,
                            const std::string& preconditioner, double rtol, int repetitions) {
    const device_arrays arrays(group, w, rows_of(group, w));
    const auto a = make_operator<double>(group, arrays.parts());
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(w.b);
    group.synchronize();
    solve_numbers numbers;
    std::vector<double> solution(w.b.size());
    for (int i = -1; i < repetitions; ++i) {
        tool::stopwatch watch;
        const any_preconditioner<double> m = make_compared(preconditioner, *a, arrays.parts());
        group.synchronize();
        if (i >= 0 && !m.is_identity()) numbers.phases.note("set-up", watch.seconds());
        (void)cg(*a, b, x, {.rtol = rtol}, m); // memory is allocated, and the loop recorded
        watch = {};
        const solve_result result = cg(*a, b, x, {.rtol = rtol}, m);
        if (i >= 0) numbers.phases.note("solve", watch.seconds());
        if (!result.converged())
            add_reason(numbers.void_because, "CG did not converge: " + result.diagnosis);
        if (i >= 0 && result.iterations != numbers.iterations)
            add_reason(numbers.void_because, fmt::format("solves took {} and {} iterations",
                                                         numbers.iterations, result.iterations));
        numbers.iterations = result.iterations;
        numbers.preconditioner = m.name();
    }
    x.download(solution);
    numbers.relative_residual = true_residual(w, solution) / w.rhs_norm;
    if (!(numbers.relative_residual <= 1.01 * rtol))
        add_reason(numbers.void_because,
                   fmt::format("||b - A x|| / ||b|| is {:.2e}", numbers.relative_residual));
    return numbers;
}

} // namespace krylith::bench
