// Operators of matrices in host memory: of their own vectors, between those of others, and with
// transposed products.
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/building/reordered_matrix.hpp>
#include <krylith/spmv/building/transposed_products.hpp>

namespace krylith {

namespace {

/// Builds the operator of a valid matrix on given vectors, its rows and columns in their orders.
template <class T>
std::unique_ptr<matrix_operator<T>>
build_between(const operator_layouts& layouts, const csr_view<T>& matrix,
              const longest_row& longest, const operator_options& options) {
    const device_group& group = layouts.range->group;
    const operator_placement placement{{}, layouts};
    const permutation* const rows = layouts.range->order.get();
    const permutation* const columns = layouts.domain->order.get();
    if (rows == nullptr && columns == nullptr)
        return build_operator(group, matrix_source<T>{matrix, longest}, placement, options);
    reordered_matrix<T> moved = reordered(matrix, rows, columns);
    const csr_view<T> view(moved.matrix);
    const matrix_source<T> source{view, find_longest_row(view.row_offsets)};
    auto result = build_operator(group, source, placement, options);
    result->take_values_from(std::move(moved.entry_source), {});
    return result;
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const device_group& group,
                                                  const csr_view<T>& matrix,
                                                  const operator_options& options) {
    const longest_row longest = validate(matrix);
    auto result = options.order
                      ? build_reordered(group, matrix, options)
                      : build_operator(group, matrix_source<T>{matrix, longest}, {}, options);
    if (options.transposed_products) add_transposed_products(*result, matrix, options);
    return result;
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const operator_layouts& layouts,
                                                  const csr_view<T>& matrix,
                                                  const operator_options& options) {
    check_layouts(layouts, matrix.rows, matrix.columns, options);
    auto result = build_between(layouts, matrix, validate(matrix), options);
    if (options.transposed_products) add_transposed_products(*result, matrix, options);
    return result;
}

template std::unique_ptr<matrix_operator<double>>
make_operator(const device_group&, const csr_view<double>&, const operator_options&);
template std::unique_ptr<matrix_operator<float>>
make_operator(const device_group&, const csr_view<float>&, const operator_options&);
template std::unique_ptr<matrix_operator<double>>
make_operator(const operator_layouts&, const csr_view<double>&, const operator_options&);
template std::unique_ptr<matrix_operator<float>>
make_operator(const operator_layouts&, const csr_view<float>&, const operator_options&);

} // namespace krylith
