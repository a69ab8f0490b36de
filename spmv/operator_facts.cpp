#include <krylith/spmv/operator_facts.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/spmv/facts/diagonal_tally.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

constexpr std::uint64_t first_seed = 20520;
constexpr std::uint64_t second_seed = 90331;

diagonal_facts in_numbers(const std::vector<diagonal_counts>& parts, std::int64_t length) {
    diagonal_counts all{};
    for (const diagonal_counts& part : parts) {
        all.positive += part.positive;
        all.negative += part.negative;
        all.not_finite += part.not_finite;
        const auto raise = [&](std::uint64_t diagonal_counts::*field) {
            all.*field = std::max(all.*field, part.*field);
        };
        raise(&diagonal_counts::largest_positive);
        raise(&diagonal_counts::largest_negative);
        raise(&diagonal_counts::smallest_positive);
        raise(&diagonal_counts::smallest_negative);
    }
    const auto size = [](std::uint64_t bits) { return std::bit_cast<double>(bits); };
    diagonal_facts d;
    d.length = length;
    d.positive = static_cast<std::int64_t>(all.positive);
    d.negative = static_cast<std::int64_t>(all.negative);
    d.zeros = length - d.positive - d.negative - static_cast<std::int64_t>(all.not_finite);
    const double least_positive = size(~all.smallest_positive);
    const double least_negative = size(~all.smallest_negative);
    if (d.positive > 0) {
        d.most = size(all.largest_positive);
        d.least = d.smallest = least_positive;
    }
    if (d.negative > 0) {
        d.least = -size(all.largest_negative);
        d.smallest = d.positive > 0 ? std::min(least_positive, least_negative) : least_negative;
        if (d.positive == 0) d.most = -least_negative;
    }
    return d;
}

/// Surveys the diagonal, and turns it into the scaling of the probes.
template <class T>
diagonal_facts survey(const matrix_operator<T>& a, vector<T>& scale) {
    a.diagonal(scale);
    const layout& layout = *scale.layout();
    const communicator& comm = layout.comm;
    const auto counts = by_rank(comm, [&](int rank) {
        buffer<diagonal_counts> mine(comm.handle(rank), 1, "facts");
        mine.zero();
        const std::int64_t first = layout.first_owned(rank);
        const held_diagonal<T> held{scale.data(rank), layout.held(rank), first,
                                    first + layout.rows.owned(rank).size()};
        KRYLITH_ON(comm[rank], survey_diagonal(comm[rank], held, mine.data()));
        return mine;
    });
    auto parts = by_rank(
        comm, [&](int rank) { return counts[static_cast<std::size_t>(rank)].download().front(); });
    comm.all_gather(parts);
    return in_numbers(parts, layout.size());
}

template <class T>
void fill(vector<T>& x, const vector<T>* scale, std::uint64_t seed) {
    const layout& layout = *x.layout();
    for (const int rank : layout.comm.local())
        run_items(layout.comm[rank],
                  probe_task<T>{x.data(rank), scale == nullptr ? nullptr : scale->data(rank),
                                layout.rows.owned(rank).begin - layout.first_owned(rank), seed},
                  layout.held(rank));
}

/// The numbers that two products give, and how long the vectors are.
struct forms {
    double xax, wax, xaw, waw;
    double bu, bv; ///< squared norms of B's products with the unscaled probes
};

template <class T>
forms multiply_probes(const matrix_operator<T>& a, const vector<T>* scale, double timeout_seconds) {
    auto x = a.make_domain_vector("facts");
    auto w = a.make_domain_vector("facts");
    auto y = a.make_range_vector("facts");
    fill(x, scale, first_seed);
    fill(w, scale, second_seed);
    execution run(a.comm(), {.timeout_seconds = timeout_seconds});
    scalar xax(run), wax(run), xaw(run), waw(run), bu(run), bv(run);
    const auto product = [&](const vector<T>& of, scalar& with_x, scalar& with_w, scalar& norm) {
        put_ghosts(run, of);
        const std::array<reduction_into<T>, 2> dots = {with_x = dot(y, x), with_w = dot(y, w)};
        a.apply(run, T(1), of, T(0), y, dots);
        if (scale == nullptr)
            fused(run, norm = dot(y, y));
        else
            fused(run, y = pointwise(*scale, y), norm = dot(y, y));
    };
    try {
        product(x, xax, wax, bu);
        product(w, xaw, waw, bv);
        const auto got = run.get(
            {xax.number(), wax.number(), xaw.number(), waw.number(), bu.number(), bv.number()});
        a.comm().synchronize();
        return {got[0], got[1], got[2], got[3], got[4], got[5]};
    } catch (...) {
        run.quiesce(); // peers write into the vectors, which are about to be freed
        throw;
    }
}

template <class T>
operator_facts find(const matrix_operator<T>& a, double timeout_seconds) {
    const auto start = std::chrono::steady_clock::now();
    operator_facts facts;
    (void)square_layout(a.layouts(), "facts_of()");
    std::optional<vector<T>> scale;
    if (a.knows_diagonal()) facts.diagonal = survey(a, scale.emplace(a.make_range_vector("facts")));
    const forms f = multiply_probes(a, scale ? &*scale : nullptr, timeout_seconds);
    facts.products = 2;
    // Of two vectors with independent entries of variance 1/3, w'B x varies by ||B||_F / 3, and
    // ||B x|| by ||B||_F / sqrt(3).
    const double size = std::sqrt(std::max(f.bu, f.bv) / 3);
    const double difference = std::fabs(f.wax - f.xaw);
    facts.asymmetry = size > 0 ? difference / size : difference; // NaN stays
    facts.symmetric = facts.asymmetry <= symmetry_tolerance<T>();
    facts.positive_forms = a.size() == 0 || (f.xax > 0 && f.waw > 0);
    facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return facts;
}

} // namespace

double diagonal_facts::span() const {
    const double largest = std::max(std::fabs(least), std::fabs(most));
    return smallest > 0 ? largest / smallest : 1;
}

template <class T>
double symmetry_tolerance() {
    return std::pow(static_cast<double>(std::numeric_limits<T>::epsilon()), 2.0 / 3);
}

template <class T>
const operator_facts& facts_of(const matrix_operator<T>& a, double timeout_seconds) {
    auto& kept = a.kept().facts;
    if (!kept)
        kept = a.comm().together(
            [&] { return std::make_shared<const operator_facts>(find(a, timeout_seconds)); });
    return *kept;
}

#define KRYLITH_INSTANTIATE(T) template struct instances<symmetry_tolerance<T>, facts_of<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
