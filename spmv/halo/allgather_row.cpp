#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/spmv/cost/iteration_model.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/subject/operator_subject.hpp>

namespace krylith {

namespace {

std::optional<double> allgather_seconds(const iteration_model& m) {
    const double vectors = m.slowest([&](const iteration_model::part& d) {
        const double pass = m.value_bytes() * static_cast<double>(d.rows) / m.rates().copy;
        return 3 * pass + std::max(5 * pass, m.all_others(d));
    });
    return m.products() + vectors + m.phases();
}

std::int64_t received_by_allgather(const halo_plan& plan, int rank) {
    if (plan.rows.owned(rank).size() == 0) return 0; // without rows it needs no x
    return plan.columns.size() - plan.columns.owned(rank).size();
}

halo_plan plan_of(const operator_pattern& pattern) {
    if (pattern.resident)
        return make_allgather_plan(*pattern.resident, pattern.rows, pattern.columns);
    return make_allgather_plan(pattern.row_offsets, pattern.column_indices, pattern.rows,
                               pattern.columns);
}

void plan_allgather(operator_kind /*kind*/, operator_pattern& pattern) {
    (void)plan_of(pattern);
}

template <class T>
std::unique_ptr<matrix_operator<T>> build_allgather(operator_kind /*kind*/,
                                                    operator_subject<T>& subject) {
    return std::make_unique<halo_operator<T>>(subject.spread(coherence::owned), subject.source,
                                              plan_of(subject), subject.options.format,
                                              operators::allgather);
}

} // namespace

constinit const operator_method operator_rows::allgather = {
    .name = "allgather",
    .help = "sends all of x",
    .vectors = coherence::owned,
    .sends = sent_data::x,
    .transposed = &operator_rows::allgather,
    .one_process = false,
    .listed = true,
    .compared = true,
    .seconds = allgather_seconds,
    .received = received_by_allgather,
    .plan = plan_allgather,
    .build = operator_makers{build_allgather<double>, build_allgather<float>},
};

} // namespace krylith
