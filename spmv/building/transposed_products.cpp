#include <krylith/spmv/building/transposed_products.hpp>

#include <utility>
#include <vector>

#include <omp.h>

#include <krylith/matrix/compressed/transpose_entries.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

template <class T>
void add_transposed_products(matrix_operator<T>& a, const csr_view<T>& matrix,
                             const operator_options& options) {
    check_index_size("transposed products: the number of rows", matrix.rows);
    const compressed_pattern pattern{matrix.row_offsets, matrix.column_indices, matrix.columns};
    csr_matrix<T> transposed{matrix.columns, matrix.rows, {}, {}, {}};
    transposed.row_offsets.resize(as_size(matrix.columns) + 1);
    transposed.column_indices.resize(matrix.column_indices.size());
    transposed.values.resize(matrix.column_indices.size());
    std::vector<std::int64_t> source(matrix.column_indices.size());
    transpose_entries<std::int64_t>(
        pattern, transposed.row_offsets, plan_transposition(pattern, omp_get_max_threads()),
        [](std::int64_t k) { return k; },
        [&](std::int64_t place, std::int64_t row, std::int64_t k) {
            transposed.column_indices[as_size(place)] = static_cast<std::int32_t>(row);
            transposed.values[as_size(place)] = matrix.values[as_size(k)];
            source[as_size(place)] = k;
        });
    operator_options same = options;
    same.kind = operator_kind(*a.kind()->transposed.get());
    same.order = orders::none; // that of the layouts
    same.measure = false;
    same.transposed_products = false;
    a.keep_transposed(
        make_operator({a.range_layout(), a.domain_layout()}, csr_view<T>(transposed), same),
        std::move(source));
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void add_transposed_products(matrix_operator<T>&, const csr_view<T>&,                 \
                                          const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
