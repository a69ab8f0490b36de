// Operators of matrices over a group.
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/distributed_csr.hpp>

namespace krylith {

namespace {

template <class T>
void check_layouts(const operator_layouts& layouts, const distributed_csr<T>& matrix) {
    if (layouts.range == nullptr || layouts.domain == nullptr)
        throw usage_error("make_operator: a layout is null");
    if (matrix.row_owners().ranks() == 0 || layouts.range->group != matrix.group())
        throw usage_error("make_operator: the matrix is on another group than the layouts");
    if (layouts.domain->size() != matrix.columns())
        throw usage_error("make_operator: the domain layout has " +
                          std::to_string(layouts.domain->size()) + " entries for " +
                          std::to_string(matrix.columns()) + " columns");
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const operator_layouts& layouts,
                                                  const distributed_csr<T>& matrix,
                                                  const operator_options& options) {
    check_layouts(layouts, matrix);
    const int ranks = matrix.group().size();
    std::vector<buffer<std::int32_t>> global; // read while the operator is made
    std::vector<csr_part<T>> parts;
    for (int rank = 0; rank < ranks; ++rank) {
        const device_csr_view<T> a = matrix.block(rank).view();
        const std::int32_t* columns = a.indices;
        if (ranks > 1) {
            global.push_back(matrix.global_columns(rank));
            columns = global.back().data();
        }
        parts.push_back({a.rows, a.offsets, columns, a.values});
    }
    operator_options with = options;
    if (ranks > 1) with.borrow = false; // some operators would borrow the global columns
    return make_operator(layouts, std::span<const csr_part<T>>(parts), with);
}

template std::unique_ptr<matrix_operator<double>>
make_operator(const operator_layouts&, const distributed_csr<double>&, const operator_options&);
template std::unique_ptr<matrix_operator<float>>
make_operator(const operator_layouts&, const distributed_csr<float>&, const operator_options&);

} // namespace krylith
