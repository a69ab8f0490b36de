// Operators of matrices over a group.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/distributed/distributed_assembly.hpp>
#include <krylith/matrix/types/longest_row.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/building/part_checks.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>

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
    if (layouts.range->order || layouts.domain->order)
        throw usage_error("make_operator: a layout has another order of rows than the matrix over "
                          "the group; allowed is none");
    for (int rank = 0; rank < matrix.group().size(); ++rank)
        if (matrix.block(rank).nonzeros() != 0 && matrix.block(rank).view().values == nullptr)
            throw usage_error("make_operator: the rows of rank " + std::to_string(rank) +
                              " have no values");
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

/// What the halo operator is made of: no columns are numbered anew, and nothing is validated.
template <class T>
matrix_source<T> source_of(const distributed_csr<T>& matrix, const operator_options& options) {
    matrix_source<T> source;
    source.numbered = true;
    source.borrow = options.borrow;
    source.matrix.rows = matrix.rows();
    source.matrix.columns = matrix.columns();
    return source;
}

/// The columns of a rank; only its own where the matrix lies on other devices.
template <class T>
local_columns columns_on(const distributed_csr<T>& matrix, int rank, const layout& domain) {
    if (rank < matrix.group().size()) return matrix.columns_of(rank);
    return {nullptr, domain.rows.owned(rank), {}};
}

/// Builds the halo operator of rows on CUDA devices.
template <class T>
std::unique_ptr<matrix_operator<T>> build_there(const operator_layouts& layouts,
                                                const distributed_csr<T>& matrix,
                                                const operator_options& options) {
    const device_group& group = layouts.range->group;
    std::vector<numbered_rows> rows;
    matrix_source<T> source = source_of(matrix, options);
    for (int rank = 0; rank < group.size(); ++rank) {
        device_csr_view<T> a{};
        if (rank < matrix.group().size()) a = matrix.block(rank).view();
        rows.push_back({a.rows, a.offsets, a.indices, columns_on(matrix, rank, *layouts.domain)});
        source.parts.push_back({a.indices, a.values});
    }
    source.resident = take_numbered(group, rows, matrix.columns());
    source.longest = source.resident->longest();
    return build_operator(group, source, {{}, layouts}, options);
}

/// The rows of a rank on a host device, as the formats take them.
template <class T>
local_csr<T> rows_on_host(const distributed_csr<T>& matrix, int rank, bool borrow) {
    static constexpr std::int64_t none = 0;
    local_csr<T> block{};
    block.offsets = {&none, 1};
    if (rank >= matrix.group().size()) return block;
    const device_csr_view<T> a = matrix.block(rank).view();
    block.rows = a.rows;
    if (a.rows != 0) block.offsets = {a.offsets, static_cast<std::size_t>(a.rows) + 1};
    block.indices = {a.indices, static_cast<std::size_t>(a.nonzeros)};
    block.device_indices = a.indices;
    block.device_values = a.values;
    block.borrow = borrow;
    return block;
}

/// Builds the halo operator of rows on host devices.
template <class T>
std::unique_ptr<matrix_operator<T>> build_on_hosts(const operator_layouts& layouts,
                                                   const distributed_csr<T>& matrix,
                                                   const operator_options& options) {
    const trace_range range("set up an operator");
    check_replication(layouts.range->group, options);
    matrix.group().synchronize(); // the arrays are read here
    matrix_source<T> source = source_of(matrix, options);
    halo_plan plan{layouts.range->rows, {}, {}};
    std::vector<local_indices> columns;
    std::int64_t longest = 0;
    for (int rank = 0; rank < layouts.range->group.size(); ++rank) {
        const local_csr<T>& rows =
            source.blocks.emplace_back(rows_on_host(matrix, rank, options.borrow));
        columns.push_back(columns_on(matrix, rank, *layouts.domain));
        plan.boundary.push_back(find_boundary(rows.offsets, rows.indices, columns.back()));
        longest = std::max(longest, find_longest_row(rows.offsets).nonzeros);
    }
    plan.columns = {layouts.domain->rows, std::move(columns)};
    auto result = std::make_unique<halo_operator<T>>(layouts, source, plan, options.format);
    result->kept().longest_row = longest;
    return result;
}

/// Makes the operator of rows with global columns, on a group of so many devices or on the layouts
/// of one.
template <class T, class Where>
std::unique_ptr<matrix_operator<T>> make_of_rows(const Where& where, int devices,
                                                 const distributed_csr<T>& matrix,
                                                 operator_options options) {
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
    parts.resize(static_cast<std::size_t>(devices));
    // Some operators would borrow the global columns, and others can't borrow at all.
    if (devices > 1 || (options.kind && options.kind->deals)) options.borrow = false;
    return make_operator(where, std::span<const csr_part<T>>(parts), options);
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
    if (with.kind == operators::halo && same_owners) {
        check_layouts(layouts, matrix.rows(), matrix.columns(), with);
        if (can_be_made_there(group, with)) return build_there(layouts, matrix, with);
        if (group.kind() == backend::host && !with.measure && !with.transposed_products)
            return build_on_hosts(layouts, matrix, with);
    }
    return make_of_rows(layouts, group.size(), matrix, with);
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const distributed_csr<T>& matrix,
                                                  const operator_options& options) {
    const coherence kind = options.kind ? options.kind->vectors.get() : coherence::owned;
    return make_operator(
        make_layouts(matrix.group(), matrix.row_owners(), matrix.column_owners(), kind), matrix,
        options);
}

namespace {

/// Assembles entries and makes an operator of their matrix, which keeps what it needs for others.
template <class T, class Make>
std::unique_ptr<matrix_operator<T>>
assembled(const device_group& group, std::span<const coo_part<T>> parts,
          const row_partition& columns, const operator_options& options, const Make& make) {
    check_order(options);
    auto assembly = std::make_unique<distributed_assembly<T>>(group, parts, columns);
    operator_options with = options;
    with.borrow = options.format && options.format->borrows; // the assembly keeps them in CSR order
    auto result = make(assembly->matrix(), with);
    if (!result->reads_in_place()) assembly->drop_matrix();
    result->assemble_by(std::move(assembly));
    return result;
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const operator_layouts& layouts,
                                                  std::span<const coo_part<T>> parts,
                                                  const operator_options& options) {
    if (layouts.range == nullptr || layouts.domain == nullptr)
        throw usage_error("make_operator: a layout is null");
    return assembled<T>(layouts.range->group, parts, layouts.domain->rows, options,
                        [&](const distributed_csr<T>& matrix, const operator_options& with) {
                            return make_operator(layouts, matrix, with);
                        });
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const device_group& group,
                                                  std::span<const coo_part<T>> parts,
                                                  const operator_options& options) {
    row_partition rows;
    for (const coo_part<T>& part : parts) rows.begin.push_back(rows.begin.back() + part.rows);
    return assembled<T>(group, parts, rows, options,
                        [&](const distributed_csr<T>& matrix, const operator_options& with) {
                            if (with.kind) return make_operator(matrix, with);
                            return make_of_rows(group, group.size(), matrix, with);
                        });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_operator(const distributed_csr<T>&,          \
                                                               const operator_options&);           \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, const distributed_csr<T>&, const operator_options&);              \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const device_group&, std::span<const coo_part<T>>, const operator_options&);               \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, std::span<const coo_part<T>>, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
