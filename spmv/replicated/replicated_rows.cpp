// nz, 2nz, lra and lra-rc are one operator with four plans.
#include <algorithm>

#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/sparse/selection/format_choice.hpp>
#include <krylith/spmv/cost/iteration_model.hpp>
#include <krylith/spmv/replicated/replicated_operator.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/spmv/subject/operator_subject.hpp>

namespace krylith {

namespace {

double replicated_seconds_of(const iteration_model& m, double redundant) {
    using part = iteration_model::part;
    double nonzeros = 0;
    for (const part& d : m.statistics().parts) nonzeros += static_cast<double>(d.nonzeros);
    const double slowest = m.slowest([&](const part& d) {
        // Redundant entries count like the device's own.
        const double others = m.entry(d) * (nonzeros - static_cast<double>(d.nonzeros));
        const double mine =
            std::max(m.product(d) + redundant * others / m.rates().product, m.longest_row());
        return beside(mine, (1 - redundant) * m.all_others(d));
    });
    return slowest + 8 * m.value_bytes() * m.rows() / m.rates().copy + m.phases();
}

std::optional<double> replicated_seconds(const iteration_model& m) {
    return replicated_seconds_of(m, 0);
}

std::optional<double> redundant_seconds(const iteration_model& m) {
    return replicated_seconds_of(m, m.redundant());
}

std::int64_t received_by_replicated(const halo_plan& plan, int rank) {
    return plan.rows.rows() - plan.rows.owned(rank).size();
}

using planner = block_partition (*)(const operator_pattern&);

block_partition plan_nz(const operator_pattern& p) {
    return one_block(p.rows);
}

block_partition plan_two_nz(const operator_pattern& p) {
    return two_blocks(p.row_offsets, p.comm.ranks(), row_alignment(p.rows.rows(), p.comm.ranks()));
}

block_partition plan_long_rows(const operator_pattern& p) {
    return long_rows_last(p.row_offsets, p.longest, p.comm.ranks(), p.fractions,
                          row_alignment(p.rows.rows(), p.comm.ranks()));
}

template <planner Plan>
void plan_replicated(operator_kind /*kind*/, operator_pattern& pattern) {
    (void)Plan(pattern);
}

/// The format of redundant rows. Where rows are uneven, and neither format nor transport is given,
/// it is csr5, in a block of its own: formats that give a row the same bits in any block take
/// several times as long (with csr fullchip on four GPUs has 0.14 of the speed of one).
format_kind format_of_redundant(const operator_pattern& p) {
    const bool chosen = p.options.format || p.options.transport;
    if (chosen || p.comm.kind() != backend::cuda) return p.options.format;
    const bool uneven =
        choose_format(measure_lengths(p.row_offsets), result_use::sent) == formats::csr5;
    return uneven ? formats::csr5 : formats::automatic;
}

template <class T, planner Plan>
std::unique_ptr<matrix_operator<T>> build_replicated(operator_kind kind,
                                                     operator_subject<T>& subject) {
    const bool redundant = kind->fractions.redundant;
    const format_kind format = redundant ? format_of_redundant(subject) : subject.options.format;
    return std::make_unique<replicated_operator<T>>(
        kind, subject.spread(coherence::replicated), subject.source, Plan(subject),
        choose_transport(subject.comm, subject.options.transport), format);
}

template <planner Plan>
constexpr operator_makers replicated_makers = {build_replicated<double, Plan>,
                                               build_replicated<float, Plan>};

} // namespace

constinit const operator_method operator_rows::nz = {
    .name = "nz",
    .help = "replicates vectors; each device sends its results to all others",
    .vectors = coherence::replicated,
    .sends = sent_data::results,
    .transposed = &operator_rows::nz,
    .one_process = true,
    .listed = true,
    .compared = true,
    .seconds = replicated_seconds,
    .received = received_by_replicated,
    .plan = plan_replicated<plan_nz>,
    .build = replicated_makers<plan_nz>,
};

constinit const operator_method operator_rows::two_nz = {
    .name = "2nz",
    .help = "as nz, in two blocks, the first of which travels under the second",
    .vectors = coherence::replicated,
    .sends = sent_data::results,
    .deals = true,
    .transposed = &operator_rows::two_nz,
    .one_process = true,
    .compared = true,
    .seconds = replicated_seconds,
    .plan = plan_replicated<plan_two_nz>,
    .build = replicated_makers<plan_two_nz>,
};

constinit const operator_method operator_rows::lra = {
    .name = "lra",
    .help = "as nz, short rows first, so that many results travel under the long rows",
    .vectors = coherence::replicated,
    .sends = sent_data::results,
    .fractions = operator_fractions{.long_rows = true},
    .deals = true,
    .transposed = &operator_rows::lra,
    .one_process = true,
    .compared = true,
    .seconds = replicated_seconds,
    .plan = plan_replicated<plan_long_rows>,
    .build = replicated_makers<plan_long_rows>,
};

constinit const operator_method operator_rows::lra_rc = {
    .name = "lra-rc",
    .help = "as lra, but every device computes some rows instead of sending them",
    .vectors = coherence::replicated,
    .sends = sent_data::results,
    .fractions = operator_fractions{.long_rows = true, .redundant = true},
    .deals = true,
    .transposed = &operator_rows::lra_rc,
    .one_process = true,
    .compared = true,
    .seconds = redundant_seconds,
    .plan = plan_replicated<plan_long_rows>,
    .build = replicated_makers<plan_long_rows>,
};

} // namespace krylith
