#include <krylith/spmv/cost/iteration_model.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/subject/operator_subject.hpp>

namespace krylith {

namespace {

std::optional<double> halo_seconds(const iteration_model& m) {
    using part = iteration_model::part;
    const double vectors = m.slowest([&](const part& d) { return m.owned_vectors(d); });
    const double late = m.slowest([&](const part& d) {
        const double interior =
            1 - static_cast<double>(d.boundary_rows) / std::max(1.0, static_cast<double>(d.rows));
        return m.late_ghosts(d, interior * m.product(d));
    });
    return m.products() + vectors + late + m.phases();
}

template <class T>
std::unique_ptr<matrix_operator<T>> build_halo_operator(operator_kind kind,
                                                        operator_subject<T>& subject) {
    return std::make_unique<halo_operator<T>>(subject.spread(coherence::owned), subject.source,
                                              subject.halo(), subject.options.format, kind);
}

} // namespace

constinit const operator_method operator_rows::halo = {
    .name = "halo",
    .aliases = {"ghost"},
    .help = "sends the entries of x that others need",
    .vectors = coherence::owned,
    .sends = sent_data::x,
    .transposed = &operator_rows::halo,
    .one_process = false,
    .persistent = true,
    .listed = true,
    .compared = true,
    .seconds = halo_seconds,
    .received = received_by_halo,
    .plan = plan_halo,
    .build = operator_makers{build_halo_operator<double>, build_halo_operator<float>},
};

} // namespace krylith
