#include <krylith/matrix/statistics.hpp>

#include <algorithm>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

template <class T>
csr_matrix<T> canonical_copy(const csr_view<T>& a) {
    coo_matrix<T> entries{a.rows,
                          a.columns,
                          std::vector<std::int32_t>(as_size(a.nnz())),
                          {a.column_indices.begin(), a.column_indices.end()},
                          {a.values.begin(), a.values.end()}};
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto k = a.row_offsets[as_size(row)]; k < a.row_offsets[as_size(row) + 1]; ++k)
            entries.row_indices[as_size(k)] = static_cast<std::int32_t>(row);
    return to_csr(entries);
}

template <class T>
bool ascending(const csr_view<T>& a) {
    bool sorted = true;
#pragma omp parallel for schedule(static) reduction(&& : sorted)
    for (std::int64_t row = 0; row < a.rows; ++row)
        sorted =
            sorted && std::is_sorted(a.column_indices.begin() + a.row_offsets[as_size(row)],
                                     a.column_indices.begin() + a.row_offsets[as_size(row) + 1]);
    return sorted;
}

template <class T>
matrix_statistics describe_canonical(const csr_view<T>& a) {
    matrix_statistics result;
    result.rows = a.rows;
    result.columns = a.columns;
    result.stored = a.nnz();
    result.lengths = measure_row_lengths(a.row_offsets);
    result.length_law = fit_power_law(a.row_offsets);
    const entry_survey survey = survey_entries(a);
    result.bandwidth = survey.bandwidth;
    result.values = survey.values;
    result.diagonal = survey.diagonal;
    // A full diagonal is in every column.
    if (!result.square() || result.diagonal.missing > 0)
        result.empty_columns = count_empty_columns(a);
    if (!result.square()) return result;
    result.symmetry = measure_symmetry(a);
    if (result.symmetry->by_values() && result.diagonal.positive == a.rows)
        result.indefinite_at = find_indefinite_minor(a);
    return result;
}

} // namespace

template <class T>
matrix_statistics describe(const csr_view<T>& a) {
    if (canonical(a)) return describe_canonical(a);
    const csr_matrix<T> copy = canonical_copy(a);
    matrix_statistics result = describe_canonical(csr_view<T>(copy));
    result.stored = a.nnz();
    result.duplicates = a.nnz() - copy.nnz();
    result.sorted = ascending(a);
    return result;
}

#define KRYLITH_INSTANTIATE(T) template matrix_statistics describe(const csr_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
