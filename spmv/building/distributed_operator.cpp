// Operators of matrices over a group.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/distributed/distributed_assembly.hpp>
#include <krylith/distributed/source/partition_check.hpp>
#include <krylith/matrix/types/index_width.hpp>
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
bool lies_on_first(const communicator& comm, const distributed_csr<T>& matrix) {
    return matrix.comm() == comm.sub(std::array{0});
}

template <class T>
void check_layouts(const operator_layouts& layouts, const distributed_csr<T>& matrix) {
    if (layouts.domain == nullptr) throw usage_error("make_operator: the domain layout is null");
    const communicator& comm = layouts.range->comm;
    if (matrix.row_owners().ranks() == 0 || (comm != matrix.comm() && !lies_on_first(comm, matrix)))
        throw usage_error("make_operator: the matrix is on another group than the layouts");
    if (layouts.range->order || layouts.domain->order)
        throw usage_error("make_operator: a layout has another order of rows than the matrix over "
                          "the group; allowed is none");
    for (const int rank : matrix.comm().local())
        if (matrix.block(rank).nonzeros() != 0 && matrix.block(rank).view().values == nullptr)
            throw usage_error("make_operator: the rows of rank " + std::to_string(rank) +
                              " have no values");
    if (layouts.domain->size() != matrix.columns())
        throw usage_error("make_operator: the domain layout has " +
                          std::to_string(layouts.domain->size()) + " entries for " +
                          std::to_string(matrix.columns()) + " columns");
}

/// The owners on a group of which the matrix has the first device or all.
row_partition over(const communicator& comm, row_partition owners) {
    owners.begin.resize(static_cast<std::size_t>(comm.ranks()) + 1, owners.rows());
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
    if (rank < matrix.comm().ranks()) return matrix.columns_of(rank);
    return {nullptr, domain.rows.owned(rank), {}};
}

/// Builds the halo operator of rows on CUDA devices.
template <class T>
std::unique_ptr<matrix_operator<T>> build_there(const operator_layouts& layouts,
                                                const distributed_csr<T>& matrix,
                                                const operator_options& options) {
    const communicator& comm = layouts.range->comm;
    matrix_source<T> source = source_of(matrix, options);
    source.parts.resize(static_cast<std::size_t>(comm.ranks()));
    const auto rows = by_rank(comm, [&](int rank) {
        device_csr_view<T> a{};
        if (rank < matrix.comm().ranks()) a = matrix.block(rank).view();
        source.parts[static_cast<std::size_t>(rank)] = {a.indices, a.values};
        return numbered_rows{a.rows, a.offsets, a.indices,
                             columns_on(matrix, rank, *layouts.domain)};
    });
    source.resident = take_numbered(comm, rows, matrix.columns());
    source.longest = source.resident->longest();
    return build_operator(comm, source, {{}, layouts}, options);
}

/// The rows of a rank on a host device, as the formats take them.
template <class T>
local_csr<T> rows_on_host(const distributed_csr<T>& matrix, int rank, bool borrow) {
    static constexpr std::int64_t none = 0;
    local_csr<T> block{};
    block.offsets = {&none, 1};
    if (rank >= matrix.comm().ranks()) return block;
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
    const communicator& comm = layouts.range->comm;
    check_replication(comm, options);
    matrix.comm().synchronize(); // the arrays are read here
    matrix_source<T> source = source_of(matrix, options);
    halo_plan plan{layouts.range->rows, {}, {}};
    source.blocks =
        by_rank(comm, [&](int rank) { return rows_on_host(matrix, rank, options.borrow); });
    const auto rows_of = [&](int rank) -> const local_csr<T>& {
        return source.blocks[static_cast<std::size_t>(rank)];
    };
    auto columns = by_rank(
        comm, [&](int rank) -> local_indices { return columns_on(matrix, rank, *layouts.domain); });
    plan.boundary = by_rank(comm, [&](int rank) {
        return find_boundary(rows_of(rank).offsets, rows_of(rank).indices,
                             columns[static_cast<std::size_t>(rank)]);
    });
    auto longest_of =
        by_rank(comm, [&](int rank) { return find_longest_row(rows_of(rank).offsets).nonzeros; });
    comm.all_gather(longest_of);
    const std::int64_t longest = std::ranges::max(longest_of);
    auto nonzeros = by_rank(comm, [&](int rank) { return rows_of(rank).nonzeros(); });
    comm.all_gather(nonzeros);
    nonzeros.insert(nonzeros.begin(), 0);
    std::partial_sum(nonzeros.begin(), nonzeros.end(), nonzeros.begin());
    source.starts_of_blocks.emplace(plan.rows, std::move(nonzeros));
    plan.columns = {comm, layouts.domain->rows, std::move(columns)};
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
    check_index_size("make_operator: for other operators than halo, trials, transposed products "
                     "and vectors of other partitions the number of columns",
                     matrix.columns());
    std::vector<buffer<std::int32_t>> global; // read while the operator is made
    if (matrix.comm().ranks() > 1)
        global = by_rank(matrix.comm(), [&](int rank) { return matrix.global_columns(rank); });
    auto parts = by_rank(matrix.comm(), [&](int rank) {
        const device_csr_view<T> a = matrix.block(rank).view();
        return csr_part<T>{
            a.rows, a.offsets,
            global.empty() ? a.indices : global[static_cast<std::size_t>(rank)].data(), a.values};
    });
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
    const communicator& comm = comm_of(layouts);
    return comm.together([&] {
        check_layouts(layouts, matrix);
        const bool same_owners = layouts.range->rows == over(comm, matrix.row_owners()) &&
                                 layouts.domain->rows == over(comm, matrix.column_owners());
        operator_options with = options;
        if (!options.kind && !options.measure && layouts.range->kind == coherence::owned)
            with.kind = operators::halo; // the usual one
        if (with.kind == operators::halo && same_owners) {
            check_layouts(layouts, matrix.rows(), matrix.columns(), with);
            if (can_be_made_there(comm, with)) return build_there(layouts, matrix, with);
            if (comm.kind() == backend::host && !with.measure && !with.transposed_products)
                return build_on_hosts(layouts, matrix, with);
        }
        return make_of_rows(layouts, comm.ranks(), matrix, with);
    });
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const distributed_csr<T>& matrix,
                                                  const operator_options& options) {
    const coherence kind = options.kind ? options.kind->vectors.get() : coherence::owned;
    return make_operator(
        make_layouts(matrix.comm(), matrix.row_owners(), matrix.column_owners(), kind), matrix,
        options);
}

namespace {

/// Assembles entries and makes an operator of their matrix, which keeps what it needs for others.
/// columns() says who owns which.
template <class T, class Columns, class Make>
std::unique_ptr<matrix_operator<T>>
assembled(const communicator& comm, std::span<const coo_part<T>> parts, const Columns& columns,
          const operator_options& options, const Make& make) {
    return comm.together([&] {
        check_order(options);
        auto assembly = std::make_unique<distributed_assembly<T>>(comm, parts, columns());
        operator_options with = options;
        with.borrow =
            options.format && options.format->borrows; // the assembly keeps them in CSR order
        auto result = make(assembly->matrix(), with);
        if (!result->reads_in_place()) assembly->drop_matrix();
        result->assemble_by(std::move(assembly));
        return result;
    });
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const operator_layouts& layouts,
                                                  std::span<const coo_part<T>> parts,
                                                  const operator_options& options) {
    const auto columns = [&] {
        if (layouts.domain == nullptr)
            throw usage_error("make_operator: the domain layout is null");
        return layouts.domain->rows;
    };
    return assembled<T>(comm_of(layouts), parts, columns, options,
                        [&](const distributed_csr<T>& matrix, const operator_options& with) {
                            return make_operator(layouts, matrix, with);
                        });
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const communicator& comm,
                                                  std::span<const coo_part<T>> parts,
                                                  const operator_options& options) {
    const auto rows = [&] {
        check_count(parts.size(), comm);
        return rows_of_parts(comm,
                             [&](int rank) { return parts[static_cast<std::size_t>(rank)].rows; });
    };
    return assembled<T>(comm, parts, rows, options,
                        [&](const distributed_csr<T>& matrix, const operator_options& with) {
                            if (with.kind) return make_operator(matrix, with);
                            return make_of_rows(comm, comm.ranks(), matrix, with);
                        });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_operator(const distributed_csr<T>&,          \
                                                               const operator_options&);           \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, const distributed_csr<T>&, const operator_options&);              \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const communicator&, std::span<const coo_part<T>>, const operator_options&);               \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, std::span<const coo_part<T>>, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
