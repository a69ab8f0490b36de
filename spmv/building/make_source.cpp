#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <krylith/distributed/source/cut_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/table/operators.hpp>

namespace krylith {

bool can_be_made_there(const device_group& group, const operator_options& options) {
    return makes_operators_there(group) && !options.measure &&
           (!options.kind || options.kind->needs_host_because.empty());
}

namespace {

/// Whether the operator is halo, or will mostly be.
bool may_be_halo(const operator_placement& placement, const operator_options& options) {
    const bool owned = !placement.layouts || placement.layouts->range->kind == coherence::owned;
    return options.kind ? options.kind == operators::halo : owned;
}

/// Whether the devices have room for their rows twice, as they come and as an operator has them.
template <class T>
bool have_room(const device_group& group, const csr_view<T>& matrix, const row_partition& rows) {
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range own = rows.owned(rank);
        const std::int64_t nonzeros =
            matrix.row_offsets[as_size(own.end)] - matrix.row_offsets[as_size(own.begin)];
        const std::size_t bytes =
            as_size(own.size()) * sizeof(std::int64_t) +
            as_size(std::max<std::int64_t>(0, nonzeros)) * (sizeof(std::int32_t) + sizeof(T));
        if (2 * bytes > group[rank].free_bytes()) return false;
    }
    return true;
}

} // namespace

template <class T>
matrix_source<T> make_source(const device_group& group, const csr_view<T>& matrix,
                             pattern_state state, operator_placement& placement,
                             const operator_options& options) {
    if (!can_be_made_there(group, options))
        return {matrix, state == pattern_state::valid ? find_longest_row(matrix.row_offsets)
                                                      : validate(matrix)};
    const auto& offsets = matrix.row_offsets;
    if (offsets.empty() || offsets.front() != 0 || offsets.back() < 0)
        (void)validate(matrix); // these can't be cut, and it says why
    if (options.kind && options.kind->deals) {
        const auto [first_descent, longest] = scan_offsets(offsets);
        if (first_descent == matrix.rows && can_be_cut(matrix, {{0, matrix.rows}}))
            return {matrix, longest}; // the devices will validate columns
        (void)validate(matrix);
    }
    if (placement.layouts) placement.rows = placement.layouts->range->rows;
    if (!placement.rows) placement.rows = partition_rows(matrix, group.size(), options.block_size);
    if (may_be_halo(placement, options) && have_room(group, matrix, *placement.rows)) {
        const row_partition columns = placement.layouts ? placement.layouts->domain->rows
                                      : matrix.rows == matrix.columns
                                          ? *placement.rows
                                          : partition_columns(matrix.columns, group.size());
        auto rows = std::make_shared<distributed_csr<T>>(group, matrix, *placement.rows, columns);
        matrix_source<T> source = numbered_source(group, *rows, columns);
        source.kept = std::move(rows);
        source.on_host = matrix;
        return source;
    }
    auto resident = upload_pattern(group, matrix, *placement.rows);
    matrix_source<T> source{matrix, resident->longest()};
    source.resident = std::move(resident);
    return source;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template matrix_source<T> make_source(const device_group&, const csr_view<T>&, pattern_state,  \
                                          operator_placement&, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
