#include <krylith/spmv/column_adaptive/column_adaptive_matrix.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/subject/operator_subject.hpp>

namespace krylith {

namespace {

template <class T>
std::unique_ptr<matrix_operator<T>> build_adaptive(operator_kind kind,
                                                   operator_subject<T>& subject) {
    return std::make_unique<halo_operator<T>>(subject.spread(coherence::owned), subject.source,
                                              subject.halo(), subject.options.format, kind,
                                              make_adaptive<T>);
}

} // namespace

constinit const operator_method operator_rows::adaptive = {
    .name = "adaptive",
    .help = "as halo, but multiplies only columns where x has entries, as long as it has few",
    .vectors = coherence::owned,
    .sends = sent_data::x,
    .needs_host_because = "it keeps it by columns too",
    .transposed = &operator_rows::adaptive,
    .eager_because = "the host looks at x before each product",
    .one_process = true,
    .compared = false,
    .not_predicted_because = "it pays where x is sparse, which the matrix doesn't say",
    .received = received_by_halo,
    .plan = plan_halo,
    .build = operator_makers{build_adaptive<double>, build_adaptive<float>},
};

} // namespace krylith
