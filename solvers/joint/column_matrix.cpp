#include <krylith/solvers/joint/column_matrix.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/partition/halo/halo_plan.hpp>

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

template <class T>
std::vector<T> inverse_diagonal(const csr_view<T>& a, row_range owned) {
    std::vector<T> inverse;
    inverse.reserve(static_cast<std::size_t>(owned.size()));
    for (std::int64_t row = owned.begin; row < owned.end; ++row) {
        T entry = 0;
        for (auto at = a.row_offsets[static_cast<std::size_t>(row)];
             at < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++at)
            if (a.column_indices[static_cast<std::size_t>(at)] == row)
                entry += a.values[static_cast<std::size_t>(at)];
        if (!std::isfinite(entry) || !std::isfinite(1 / entry))
            throw input_error("Jacobi preconditioner: the diagonal entry of row " +
                              std::to_string(row) + " (counted from 0) is " +
                              number_text(static_cast<double>(entry)) +
                              "; it and its inverse must be finite. Solve without Jacobi");
        inverse.push_back(1 / entry);
    }
    return inverse;
}

} // namespace

template <class T>
column_matrix<T>::column_matrix(const device_group& group, const csr_view<T>& a, int columns,
                                bool jacobi)
    : columns_(columns), rows_(a.rows) {
    if (a.rows != a.columns)
        throw usage_error("several right-hand sides at once need a square matrix; A is " +
                          std::to_string(a.rows) + " x " + std::to_string(a.columns));
    validate(a);
    const row_partition rows = equal_nonzeros(a.row_offsets, group.size());
    const halo_plan plan = make_halo_plan(a.row_offsets, a.column_indices, rows);
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
    bool any = false;
    for (const local_halo& local : plan.local) any = any || !local.ghosts.empty();
    if (any) schedule_ = std::make_shared<put_schedule<T>>(layout_, sends);

    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range owned = rows.owned(rank);
        const auto begin = a.row_offsets[static_cast<std::size_t>(owned.begin)];
        const auto end = a.row_offsets[static_cast<std::size_t>(owned.end)];
        std::vector<std::int64_t> offsets;
        offsets.reserve(static_cast<std::size_t>(owned.size()) + 1);
        for (std::int64_t row = owned.begin; row <= owned.end; ++row)
            offsets.push_back(a.row_offsets[static_cast<std::size_t>(row)] - begin);
        std::vector<std::int32_t> indices(static_cast<std::size_t>(end - begin));
        localize_columns(plan, rank, a.row_offsets, a.column_indices, indices);
        const auto& d = group.handle(rank);
        local_rows local;
        local.rows = owned.size();
        local.offsets = buffer<std::int64_t>(d, std::span<const std::int64_t>(offsets), "matrix");
        local.indices = buffer<std::int32_t>(d, std::span<const std::int32_t>(indices), "matrix");
        local.values = buffer<T>(d,
                                 a.values.subspan(static_cast<std::size_t>(begin),
                                                  static_cast<std::size_t>(end - begin)),
                                 "matrix");
        if (jacobi) {
            const std::vector<T> inverse = inverse_diagonal(a, owned);
            local.inverse_diagonal = buffer<T>(d, std::span<const T>(inverse), "preconditioner");
        }
        local_.push_back(std::move(local));
    }
}

template class column_matrix<double>;
template class column_matrix<float>;

} // namespace krylith
