#include <krylith/spmv/matrix_operator.hpp>

#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/coo_order.hpp>
#include <krylith/partition/nonzero/pcsr.hpp>
#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/spmv/source/matrix_source.hpp>

namespace krylith {

namespace {

void check_options(const device_group& group, std::int64_t rows, std::int64_t columns,
                   const operator_options& options) {
    if (options.kind != operators::pcoo)
        throw usage_error(std::string("make_operator: operator ") + to_string(options.kind) +
                          " of a coo_matrix; allowed is pcoo, and all with to_csr() of it");
    if (rows != columns)
        throw usage_error("the matrix of a solve must be square, not " + std::to_string(rows) +
                          " x " + std::to_string(columns));
    if (options.order)
        throw usage_error(std::string("make_operator: order ") + to_string(options.order) +
                          " of a coo_matrix; allowed is none, and all with to_csr() of it");
    if (options.measure)
        throw usage_error("operator_options::measure is true with operator pcoo: only auto, " +
                          operators_with_fractions() + " have something to measure");
    check_replication(group, options);
}

/// Of a square matrix: who owns column i owns row i.
template <class T>
row_partition owned_rows(const coo_matrix<T>& matrix, const nonzero_partition& cut) {
    switch (find_coo_order(matrix.row_indices, matrix.column_indices)) {
    case coo_order::by_rows: return make_pcoo(matrix.rows, matrix.row_indices, cut).owned();
    case coo_order::by_columns:
        return make_pcoo(matrix.columns, matrix.column_indices, cut).owned();
    default: return equal_rows(matrix.rows, cut.parts());
    }
}

/// By rows, as the formats want them; entries of a row stay in order.
template <class T>
struct sorted_entries {
    csr_matrix<T> matrix;
    std::vector<std::int64_t> source; // entry k was number source[k]

    explicit sorted_entries(const coo_matrix<T>& from) {
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

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const device_group& group,
                                                  const coo_matrix<T>& matrix,
                                                  const operator_options& options) {
    check_options(group, matrix.rows, matrix.columns, options);
    validate(matrix);
    const auto cut = equal_entries(matrix.entries(), group.size());
    nonzero_assignment assigned{owned_rows(matrix, cut), {}};
    sorted_entries<T> sorted(matrix);
    std::vector<std::uint8_t> holder; // of the entries as they lie
    for (int rank = 0; rank < group.size(); ++rank)
        holder.resize(as_size(cut.begin[as_size(rank + 1)]), static_cast<std::uint8_t>(rank));
    for (const std::int64_t k : sorted.source) assigned.holder.push_back(holder[as_size(k)]);

    const matrix_source<T> source{sorted.matrix, validate(csr_view<T>(sorted.matrix))};
    nonzero_split_plan plan =
        make_nonzero_split_plan(sorted.matrix.row_offsets, sorted.matrix.column_indices, assigned);
    const auto handle =
        std::make_shared<layout>(layout{group, std::move(assigned.rows), coherence::owned});
    auto result = std::make_unique<nonzero_split_operator<T>>(operators::pcoo, handle, source,
                                                              std::move(plan), options.format);
    result->take_values_from(std::move(sorted.source), {});
    return result;
}

template std::unique_ptr<matrix_operator<double>>
make_operator(const device_group&, const coo_matrix<double>&, const operator_options&);
template std::unique_ptr<matrix_operator<float>>
make_operator(const device_group&, const coo_matrix<float>&, const operator_options&);

} // namespace krylith
