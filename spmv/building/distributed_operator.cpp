// Operators of matrices over a group.
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith {

namespace {

/// Whether the matrix lies on the first device of the group alone.
template <class T>
bool lies_on_first(const device_group& group, const distributed_csr<T>& matrix) {
    return matrix.group().size() == 1 && matrix.group().handle(0) == group.handle(0);
}

template <class T>
void check_layouts(const operator_layouts& layouts, const distributed_csr<T>& matrix) {
    if (layouts.range == nullptr || layouts.domain == nullptr)
        throw usage_error("make_operator: a layout is null");
    const device_group& group = layouts.range->group;
    if (matrix.row_owners().ranks() == 0 ||
        (group != matrix.group() && !lies_on_first(group, matrix)))
        throw usage_error("make_operator: the matrix is on another group than the layouts");
    if (layouts.domain->size() != matrix.columns())
        throw usage_error("make_operator: the domain layout has " +
                          std::to_string(layouts.domain->size()) + " entries for " +
                          std::to_string(matrix.columns()) + " columns");
}

/// The owners on a group of which the matrix has the first device or all.
row_partition over(const device_group& group, row_partition owners) {
    owners.begin.resize(static_cast<std::size_t>(group.size()) + 1, owners.rows());
    return owners;
}

/// Builds the halo operator of rows on CUDA devices: the ghosts are known, and the pattern is
/// valid.
template <class T>
std::unique_ptr<matrix_operator<T>> build_halo(const operator_layouts& layouts,
                                               const distributed_csr<T>& matrix,
                                               const operator_options& options) {
    check_layouts(layouts, matrix.rows(), matrix.columns(), options);
    const device_group& group = layouts.range->group;
    std::vector<numbered_rows> rows;
    matrix_source<T> source;
    for (int rank = 0; rank < group.size(); ++rank) {
        if (rank >= matrix.group().size()) {
            rows.push_back({0, nullptr, nullptr, {layouts.domain->rows.owned(rank), {}, {}}});
            source.parts.push_back({});
            continue;
        }
        const device_csr_view<T> a = matrix.block(rank).view();
        rows.push_back({a.rows, a.offsets, a.indices, matrix.columns_of(rank)});
        source.parts.push_back({a.indices, a.values});
    }
    source.resident = take_numbered(group, rows, matrix.columns());
    source.borrow = options.borrow;
    source.numbered = true;
    source.matrix.rows = matrix.rows();
    source.matrix.columns = matrix.columns();
    source.longest = source.resident->longest();
    return build_operator(group, source, {{}, layouts}, options);
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const operator_layouts& layouts,
                                                  const distributed_csr<T>& matrix,
                                                  const operator_options& options) {
    check_layouts(layouts, matrix);
    const device_group& group = layouts.range->group;
    const bool same_owners = layouts.range->rows == over(group, matrix.row_owners()) &&
                             layouts.domain->rows == over(group, matrix.column_owners());
    operator_options with = options;
    if (!options.kind && !options.measure && layouts.range->kind == coherence::owned)
        with.kind = operators::halo; // the usual one
    if (with.kind == operators::halo && same_owners && can_be_made_there(group, with))
        return build_halo(layouts, matrix, with);
    std::vector<buffer<std::int32_t>> global; // read while the operator is made
    std::vector<csr_part<T>> parts;
    for (int rank = 0; rank < matrix.group().size(); ++rank) {
        const device_csr_view<T> a = matrix.block(rank).view();
        const std::int32_t* columns = a.indices;
        if (matrix.group().size() > 1) {
            global.push_back(matrix.global_columns(rank));
            columns = global.back().data();
        }
        parts.push_back({a.rows, a.offsets, columns, a.values});
    }
    parts.resize(static_cast<std::size_t>(group.size()));
    if (group.size() > 1) with.borrow = false; // some operators would borrow the global columns
    return make_operator(layouts, std::span<const csr_part<T>>(parts), with);
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const distributed_csr<T>& matrix,
                                                  const operator_options& options) {
    const coherence kind = options.kind ? options.kind->vectors.get() : coherence::owned;
    return make_operator(
        make_layouts(matrix.group(), matrix.row_owners(), matrix.column_owners(), kind), matrix,
        options);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_operator(const distributed_csr<T>&,          \
                                                               const operator_options&);           \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, const distributed_csr<T>&, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
