#include <krylith/solvers/joint/column_matrix.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/table/operator_subject.hpp>

namespace krylith {

namespace {

/// The plan of vectors that have k entries where those of `plan` have one. Rows' flags are left
/// out: no kernel of several columns divides its rows by them.
halo_plan multiplied(const halo_plan& plan, std::int64_t k) {
    halo_plan result = plan;
    for (row_partition* const partition : {&result.rows, &result.columns})
        for (std::int64_t& begin : partition->begin) begin *= k;
    for (local_halo& local : result.local) {
        const std::vector<std::int64_t> ghosts = std::exchange(local.ghosts, {});
        for (const std::int64_t ghost : ghosts)
            for (std::int64_t j = 0; j < k; ++j) local.ghosts.push_back(ghost * k + j);
        for (halo_receive& receive : local.receives) {
            receive.first *= k;
            receive.count *= k;
        }
        for (halo_send& send : local.sends) {
            const std::vector<std::int32_t> rows = std::exchange(send.rows, {});
            for (const std::int32_t row : rows)
                for (std::int64_t j = 0; j < k; ++j)
                    send.rows.push_back(static_cast<std::int32_t>(row * k + j));
            send.position *= k;
        }
        local.touches_ghost.clear();
    }
    return result;
}

} // namespace

template <class T>
column_matrix<T>::column_matrix(const device_group& group, const csr_view<T>& a, int columns,
                                bool with_jacobi) {
    if (a.rows != a.columns)
        throw usage_error("several right-hand sides at once need a square matrix; A is " +
                          std::to_string(a.rows) + " x " + std::to_string(a.columns));
    operator_options options;
    options.kind = operators::halo;
    options.format = formats::csr;
    std::optional<row_partition> cut;
    const matrix_source<T> source = make_source(group, a, pattern_state::unknown, cut, options);
    const row_partition rows = cut ? *cut : partition_rows(a.row_offsets, group.size());
    operator_subject<T> subject(group, source, rows, rows, std::nullopt, options);
    const halo_plan& plan = subject.halo();
    for (int rank = 0; rank < group.size(); ++rank)
        if (std::int64_t{plan.local_size(rank)} * columns >
            std::numeric_limits<std::int32_t>::max())
            throw input_error("rank " + std::to_string(rank) + " has " +
                              std::to_string(plan.local_size(rank)) + " entries of each of " +
                              std::to_string(columns) +
                              " columns, but at most 2^31 - 1 in all are allowed: take fewer "
                              "columns or more devices");
    const halo_plan sends = multiplied(plan, columns);
    layout_ = make_layouts(group, sends.rows, sends.columns, coherence::owned).domain;
    const auto has_ghosts = [](const local_halo& local) { return !local.ghosts.empty(); };
    if (std::ranges::any_of(plan.local, has_ghosts))
        schedule_ = std::make_shared<put_schedule<T>>(layout_, sends);
    a_ = std::make_unique<halo_operator<T>>(subject.spread(coherence::owned), source, plan,
                                            options.format);
    if (with_jacobi) jacobi_.emplace(*a_);
}

template class column_matrix<double>;
template class column_matrix<float>;

} // namespace krylith
