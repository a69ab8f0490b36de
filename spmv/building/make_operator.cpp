// Operators of matrices in host memory: of their own vectors, between those of others, and with
// transposed products.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/comm/exchange/alike.hpp>
#include <krylith/device/error.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/building/transposed_products.hpp>

namespace krylith {

namespace {

/// Builds the operator of a matrix on given vectors, its rows and columns brought into their
/// orders.
template <class T>
std::unique_ptr<matrix_operator<T>> build_between(const operator_layouts& layouts,
                                                  const csr_view<T>& matrix,
                                                  const operator_options& options) {
    const communicator& comm = layouts.range->comm;
    const operator_placement placement{{}, layouts};
    const permutation* const rows = layouts.range->order.get();
    const permutation* const columns = layouts.domain->order.get();
    std::optional<row_partition> cut = layouts.range->rows;
    if (rows == nullptr && columns == nullptr)
        return build_operator(comm, make_source(comm, matrix, pattern_state::unknown, cut, options),
                              placement, options);
    (void)validate(matrix);
    reordered_matrix<T> moved = reordered(matrix, rows, columns);
    const auto source =
        make_source(comm, csr_view<T>(moved.matrix), pattern_state::valid, cut, options);
    auto result = build_operator(comm, source, placement, options);
    result->take_values_from(std::move(moved.entry_source), {});
    return result;
}

template <class T>
std::unique_ptr<matrix_operator<T>> build_in_order(const communicator& comm,
                                                   const csr_view<T>& matrix,
                                                   const operator_options& options) {
    operator_placement placement;
    const auto source = make_source(comm, matrix, pattern_state::unknown, placement.rows, options);
    return build_operator(comm, source, placement, options);
}

/// What all drivers have alike of a whole matrix and of the options.
template <class T>
std::vector<named_fact> facts_of(const csr_view<T>& matrix, const operator_options& options) {
    return {{"rows", std::to_string(matrix.rows)},
            {"columns", std::to_string(matrix.columns)},
            {"nonzeros", std::to_string(matrix.column_indices.size())},
            {"operator", to_string(options.kind)},
            {"format", to_string(options.format)},
            {"transposed products", options.transposed_products ? "true" : "false"}};
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const communicator& comm,
                                                  const csr_view<T>& matrix,
                                                  const operator_options& options) {
    return comm.together([&] {
        require_alike(comm, "make_operator", [&] { return facts_of(matrix, options); });
        if (options.order) (void)validate(matrix);
        auto result = options.order ? build_reordered(comm, matrix, options)
                                    : build_in_order(comm, matrix, options);
        if (options.transposed_products) add_transposed_products(*result, matrix, options);
        return result;
    });
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const operator_layouts& layouts,
                                                  const csr_view<T>& matrix,
                                                  const operator_options& options) {
    const communicator& comm = comm_of(layouts);
    return comm.together([&] {
        check_layouts(layouts, matrix.rows, matrix.columns, options);
        require_alike(comm, "make_operator", [&] { return facts_of(matrix, options); });
        auto result = build_between(layouts, matrix, options);
        if (options.transposed_products) add_transposed_products(*result, matrix, options);
        return result;
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const communicator&, const csr_view<T>&, const operator_options&);                         \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, const csr_view<T>&, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
