#include <krylith/spmv/matrix_operator.hpp>

#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/coo_order.hpp>
#include <krylith/partition/pcsr.hpp>
#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>

namespace krylith {

namespace {

void check_options(const communicator& comm, const operator_options& options) {
    if (options.kind != operators::pcoo)
        throw usage_error(std::string("make_operator: operator ") + to_string(options.kind) +
                          " of a coo_matrix; allowed is pcoo, and all with to_csr() of it");
    if (options.order)
        throw usage_error(std::string("make_operator: order ") + to_string(options.order) +
                          " of a coo_matrix; allowed is none, and all with to_csr() of it");
    if (options.measure)
        throw usage_error("operator_options::measure is true with operator pcoo: only auto, " +
                          operators_with_fractions() + " have something to measure");
    check_replication(comm, options);
}

/// Who owns which rows and columns: those that begin on a device, where the entries lie by rows or
/// by columns, and of the other side those of the same numbers if the matrix is square, else
/// equally many.
template <class T>
operator_layouts owned_parts(const communicator& comm, const coo_view<T>& matrix,
                             const nonzero_partition& cut) {
    const coo_order order = find_coo_order(matrix.row_indices, matrix.column_indices);
    const bool square = matrix.rows == matrix.columns;
    row_partition rows = equal_rows(matrix.rows, cut.parts());
    row_partition columns = equal_rows(matrix.columns, cut.parts());
    if (order == coo_order::by_rows) {
        rows = make_pcoo(matrix.rows, matrix.row_indices, cut).owned();
        if (square) columns = rows;
    } else if (order == coo_order::by_columns) {
        columns = make_pcoo(matrix.columns, matrix.column_indices, cut).owned();
        if (square) rows = columns;
    }
    return make_layouts(comm, std::move(rows), std::move(columns), coherence::owned);
}

/// By rows, as the formats want them; entries of a row stay in order.
template <class T>
struct sorted_entries {
    csr_matrix<T> matrix;
    std::vector<std::int64_t> source; // entry k was number source[k]

    explicit sorted_entries(const coo_view<T>& from) {
        const std::size_t entries = from.row_indices.size();
        matrix.rows = from.rows;
        matrix.columns = from.columns;
        matrix.row_offsets.assign(as_size(from.rows) + 1, 0);
        matrix.column_indices.resize(entries);
        matrix.values.resize(entries);
        source.resize(entries);
        for (const std::int32_t row : from.row_indices) ++matrix.row_offsets[as_size(row) + 1];
        for (std::size_t i = 1; i < matrix.row_offsets.size(); ++i)
            matrix.row_offsets[i] += matrix.row_offsets[i - 1];
        std::vector<std::int64_t> next = matrix.row_offsets;
        for (std::size_t k = 0; k < entries; ++k) {
            const std::size_t to = as_size(next[as_size(from.row_indices[k])]++);
            matrix.column_indices[to] = from.column_indices[k];
            matrix.values[to] = from.values[k];
            source[to] = static_cast<std::int64_t>(k);
        }
    }
};

/// Builds the operator on these vectors, whose devices hold the entries of `cut`.
template <class T>
std::unique_ptr<matrix_operator<T>>
build_pcoo(const operator_layouts& layouts, const coo_view<T>& matrix, const nonzero_partition& cut,
           const operator_options& options) {
    nonzero_assignment assigned{layouts.range->rows, layouts.domain->rows, {}};
    sorted_entries<T> sorted(matrix);
    std::vector<std::uint8_t> holder; // of the entries as they lie
    for (int rank = 0; rank < cut.parts(); ++rank)
        holder.resize(as_size(cut.begin[as_size(rank + 1)]), static_cast<std::uint8_t>(rank));
    for (const std::int64_t k : sorted.source) assigned.holder.push_back(holder[as_size(k)]);

    const matrix_source<T> source{sorted.matrix, validate(csr_view<T>(sorted.matrix))};
    auto result = std::make_unique<nonzero_split_operator<T>>(
        operators::pcoo, layouts, source,
        split_on_host(sorted.matrix.row_offsets, sorted.matrix.column_indices, assigned),
        options.format);
    result->take_values_from(std::move(sorted.source), {});
    return result;
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const communicator& comm,
                                                  const coo_matrix<T>& matrix,
                                                  const operator_options& options) {
    check_options(comm, options);
    validate(matrix);
    const coo_view<T> view(matrix);
    const auto cut = equal_entries(matrix.entries(), comm.ranks());
    const operator_layouts layouts = owned_parts(comm, view, cut);
    auto result = build_pcoo(layouts, view, cut, options);
    if (!options.transposed_products) return result;
    const coo_view<T> transposed(matrix.columns, matrix.rows, matrix.column_indices,
                                 matrix.row_indices, matrix.values);
    result->keep_transposed(build_pcoo({layouts.range, layouts.domain}, transposed, cut, options),
                            {});
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const communicator&, const coo_matrix<T>&, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
