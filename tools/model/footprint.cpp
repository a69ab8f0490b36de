#include <krylith/tools/model/footprint.hpp>

#include <algorithm>
#include <limits>

#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/sparse/selection/format_choice.hpp>
#include <krylith/sparse/sell/sell_columns.hpp>
#include <krylith/sparse/sell/sell_layout.hpp>
#include <krylith/spmv/cost_model.hpp>

namespace krylith::tool {

namespace {

std::int64_t offset_bytes(std::int64_t nnz) {
    return nnz <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
}

/// With the columns as the operator numbers them.
std::int64_t sell_block_bytes(std::span<const std::int64_t> offsets,
                              std::span<const std::int32_t> columns, std::int64_t value_bytes) {
    const sell_layout sell = make_sell_layout(offsets);
    return sell_bytes(sell, choose_column_codes(sell, offsets, columns), value_bytes);
}

/// What remains to be said of all devices once one more has `kind`.
format_kind least_regular(format_kind so_far, format_kind kind) {
    for (const format_kind first : {format_kind::merge, format_kind::csr})
        if (so_far == first || kind == first) return first;
    return format_kind::sell;
}

/// As matrix_bytes() of the formats says once they exist.
void add_formats(footprint& f, std::span<const std::int64_t> offsets,
                 std::span<const std::int32_t> columns) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    const std::int64_t nnz = offsets.back() - offsets.front();
    const std::int64_t width = offset_bytes(nnz);
    f.csr_bytes = std::max(f.csr_bytes, nnz * (f.value_bytes + 4) + (rows + 1) * width);
    // cuSPARSE has columns as wide as offsets.
    f.cusparse_bytes =
        std::max(f.cusparse_bytes, nnz * (f.value_bytes + width) + (rows + 1) * width);
    f.sell_bytes = std::max(f.sell_bytes, sell_block_bytes(offsets, columns, f.value_bytes));
    f.sell_padding = std::max(f.sell_padding, make_sell_layout(offsets).padding());
    f.cuda_format = least_regular(f.cuda_format, choose_format(offsets, result_use::own));
}

} // namespace

std::int64_t footprint::vector_bytes(const method& m) const {
    const solver_vectors count = vectors(m);
    std::int64_t most = 0;
    for (const part& p : parts) {
        const std::int64_t ghosts = kind == operator_kind::nz ? 0 : p.received;
        const std::int64_t entries = count.range * p.held + count.domain * (p.held + ghosts);
        most = std::max(most, value_bytes * entries +
                                  preconditioner_bytes(m, {p.held, p.nnz, value_bytes}).value());
    }
    return most;
}

double footprint::iteration_bytes(const method& m) const {
    const std::int64_t matrix = cuda_format == format_kind::sell ? sell_bytes : csr_bytes;
    const std::int64_t x = kind == operator_kind::nz ? held : held + received;
    const auto product = static_cast<double>(matrix + value_bytes * (x + owned));
    std::int64_t nnz = 0;
    for (const part& p : parts) nnz = std::max(nnz, p.nnz);
    return products(m) * product +
           vector_passes(m).value() * static_cast<double>(value_bytes * held) +
           preconditioner_traffic(m, {held, nnz, value_bytes}).value();
}

template <class T>
std::vector<footprint> footprints(const csr_view<T>& matrix, std::span<const int> device_counts,
                                  const machine_rates& rates) {
    std::vector<footprint> result;
    const longest_row longest = find_longest_row(matrix.row_offsets);
    for (const int devices : device_counts) {
        const halo_plan plan = make_halo_plan(matrix.row_offsets, matrix.column_indices,
                                              partition_rows(matrix.row_offsets, devices));
        footprint halo;
        halo.devices = devices;
        halo.value_bytes = sizeof(T);
        std::int64_t global_sell = 0;
        format_kind sent_local = format_kind::sell;
        const operator_kind automatic =
            ranked_operators(measure_pattern(plan, matrix.row_offsets, matrix.column_indices,
                                             longest, sizeof(T)),
                             rates)
                .front();
        halo.automatic = automatic == operator_kind::halo;
        for (int part = 0; part < devices; ++part) {
            const row_range rows = plan.partition.owned(part);
            halo.parts.push_back({rows.size(), plan.ghost_count(part),
                                  matrix.row_offsets[static_cast<std::size_t>(rows.end)] -
                                      matrix.row_offsets[static_cast<std::size_t>(rows.begin)]});
            halo.owned = std::max(halo.owned, rows.size());
            halo.received = std::max(halo.received, plan.ghost_count(part));
            halo.moved += plan.ghost_count(part);
            const auto offsets = matrix.row_offsets.subspan(
                static_cast<std::size_t>(rows.begin), static_cast<std::size_t>(rows.size()) + 1);
            const auto columns = matrix.column_indices.subspan(
                static_cast<std::size_t>(offsets.front()),
                static_cast<std::size_t>(offsets.back() - offsets.front()));
            std::vector<std::int32_t> local(columns.size());
            localize_columns(plan, part, matrix.row_offsets, matrix.column_indices, local);
            add_formats(halo, offsets, local);
            if (devices == 1) continue;
            // With replicated vectors columns stay global, and results are sent.
            global_sell =
                std::max(global_sell, sell_block_bytes(offsets, columns, halo.value_bytes));
            sent_local = least_regular(sent_local, choose_format(offsets, result_use::sent));
        }
        halo.held = halo.owned;
        result.push_back(halo);
        if (devices == 1) continue;
        footprint nz = halo;
        nz.kind = operator_kind::nz;
        nz.automatic = automatic == operator_kind::nz;
        nz.sell_bytes = global_sell;
        nz.cuda_format = sent_local;
        nz.held = matrix.rows;
        nz.received = 0;
        for (footprint::part& part : nz.parts) {
            part = {matrix.rows, matrix.rows - part.held, part.nnz};
            nz.received = std::max(nz.received, part.received);
        }
        nz.moved = matrix.rows * (devices - 1);
        footprint gather = halo;
        gather.kind = operator_kind::allgather;
        gather.automatic = automatic == operator_kind::allgather;
        gather.moved = nz.moved;
        gather.received = 0;
        for (footprint::part& part : gather.parts) {
            part.received = part.held == 0 ? 0 : matrix.rows - part.held;
            gather.received = std::max(gather.received, part.received);
        }
        result.push_back(nz);
        result.push_back(gather);
    }
    return result;
}

template std::vector<footprint> footprints(const csr_view<double>&, std::span<const int>,
                                           const machine_rates&);
template std::vector<footprint> footprints(const csr_view<float>&, std::span<const int>,
                                           const machine_rates&);

} // namespace krylith::tool
