#include <krylith/precond/amg/dense_inverse.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace krylith::detail {

template <class W>
csr_matrix<W> dense_inverse(const csr_view<W>& a) {
    const auto n = static_cast<std::size_t>(a.rows);
    std::vector<double> l(n * n, 0.0); // row-major: A, then L below the diagonal
    for (std::size_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
            l[i * n + static_cast<std::size_t>(a.column_indices[k])] +=
                static_cast<double>(a.values[k]);

    const double lost = 16 * static_cast<double>(std::numeric_limits<W>::epsilon());
    std::vector<double> pivot(n);
    for (std::size_t i = 0; i < n; ++i) {
        double* const row = &l[i * n];
        const double before = row[i];
        for (std::size_t j = 0; j < i; ++j) { // row[j] = L_ij D_j
            const double* const other = &l[j * n];
            double sum = row[j];
            for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
            row[j] = sum;
        }
        double d = before;
        for (std::size_t j = 0; j < i; ++j) {
            const double with = row[j]; // L_ij D_j
            row[j] = pivot[j] == 0 ? 0 : with / pivot[j];
            d -= row[j] * with;
        }
        pivot[i] = d > lost * std::fabs(before) ? d : 0;
    }

    // G = L'^-1 D^+ L^-1, column by column; L^-1 e_c is 0 above c.
    csr_matrix<W> g;
    g.rows = g.columns = a.rows;
    g.row_offsets.resize(n + 1);
    g.column_indices.resize(n * n);
    g.values.resize(n * n);
    std::vector<double> inverse(n * n, 0.0); // row c: L^-1 e_c
    for (std::size_t c = 0; c < n; ++c) {
        double* const y = &inverse[c * n];
        y[c] = 1;
        for (std::size_t i = c + 1; i < n; ++i) {
            double sum = 0;
            for (std::size_t k = c; k < i; ++k) sum -= l[i * n + k] * y[k];
            y[i] = sum;
        }
    }
    for (std::size_t r = 0; r <= n; ++r) g.row_offsets[r] = static_cast<std::int64_t>(r * n);
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c <= r; ++c) {
            double sum = 0;
            for (std::size_t k = r; k < n; ++k)
                if (pivot[k] != 0) sum += inverse[r * n + k] * inverse[c * n + k] / pivot[k];
            g.values[r * n + c] = g.values[c * n + r] = static_cast<W>(sum);
        }
    for (std::size_t k = 0; k < n * n; ++k) g.column_indices[k] = static_cast<std::int32_t>(k % n);
    return g;
}

template csr_matrix<double> dense_inverse(const csr_view<double>&);
template csr_matrix<float> dense_inverse(const csr_view<float>&);

} // namespace krylith::detail
