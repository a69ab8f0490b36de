#include <krylith/spmspv/csr_csc_pair.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/transpose/transpose_kernels.hpp>
#include <krylith/spmspv/kernels/vector_fill.hpp>

namespace krylith::spmspv {

namespace {

constexpr const char* item = "matrix";

/// Some rows of a matrix, in the arrays of the matrix.
template <class T>
struct rows_of {
    std::span<const std::int64_t> offsets; ///< the first need not be 0
    std::span<const std::int32_t> columns;
    std::span<const T> values;

    rows_of(const csr_view<T>& a, std::int64_t first, std::int64_t end)
        : offsets(a.row_offsets.subspan(as_size(first), as_size(end - first) + 1)),
          columns(a.column_indices.subspan(as_size(offsets.front()), entries())),
          values(a.values.subspan(as_size(offsets.front()), entries())) {}

    [[nodiscard]] std::size_t rows() const { return offsets.size() - 1; }
    [[nodiscard]] std::size_t entries() const { return as_size(offsets.back() - offsets.front()); }
    [[nodiscard]] std::size_t begin(std::size_t row) const {
        return as_size(offsets[row] - offsets.front());
    }
};

template <class T>
void check_rows(const csr_view<T>& a, std::int64_t first, std::int64_t end) {
    if (first < 0 || end < first || end > a.rows)
        throw usage_error("csr_csc_pair: rows [" + std::to_string(first) + ", " +
                          std::to_string(end) + ") of a matrix of " + std::to_string(a.rows) +
                          " rows were asked for");
    check_index_size("csr_csc_pair: the number of rows of a device", end - first);
    check_index_size("csr_csc_pair: the number of columns", a.columns);
    check_index_size("csr_csc_pair: the number of nonzeros of a device",
                     a.row_offsets[as_size(end)] - a.row_offsets[as_size(first)]);
}

template <class T>
bool ascends(const rows_of<T>& a) {
    bool good = true;
    const auto rows = static_cast<std::int64_t>(a.rows());
#pragma omp parallel for schedule(static) reduction(&& : good)
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::size_t end = a.begin(as_size(row) + 1);
        for (std::size_t k = a.begin(as_size(row)) + 1; k < end; ++k)
            good = good && a.columns[k - 1] < a.columns[k];
    }
    return good;
}

template <class T>
csr_matrix<T> sorted(const rows_of<T>& a, std::int64_t columns) {
    coo_matrix<T> entries = {static_cast<std::int64_t>(a.rows()), columns};
    entries.row_indices.reserve(a.entries());
    for (std::size_t row = 0; row < a.rows(); ++row)
        entries.row_indices.insert(entries.row_indices.end(), a.begin(row + 1) - a.begin(row),
                                   static_cast<std::int32_t>(row));
    entries.column_indices.assign(a.columns.begin(), a.columns.end());
    entries.values.assign(a.values.begin(), a.values.end());
    return to_csr(entries);
}

} // namespace

template <class T>
csr_csc_pair<T>::csr_csc_pair(std::shared_ptr<krylith::device> device, const csr_view<T>& matrix,
                              std::int64_t first_row, std::int64_t end_row, entry_order order)
    : device_(std::move(device)) {
    check_rows(matrix, first_row, end_row);
    csr_matrix<T> canonical;
    rows_of<T> a(matrix, first_row, end_row);
    if (order == entry_order::ascending && !ascends(a)) {
        sorted_ = true;
        canonical = sorted(a, matrix.columns);
        a = rows_of<T>(canonical, 0, canonical.rows);
    }
    features_ = measure_features(a.offsets, matrix.columns);

    std::vector<std::int32_t> offsets(a.offsets.size());
    std::transform(a.offsets.begin(), a.offsets.end(), offsets.begin(), [&](std::int64_t offset) {
        return static_cast<std::int32_t>(offset - a.offsets.front());
    });
    row_offsets_ = {device_, std::span<const std::int32_t>(offsets), item};
    column_indices_ = {device_, a.columns, item};
    row_values_ = {device_, a.values, item};
    column_offsets_ = {device_, as_size(matrix.columns) + 1, item};
    row_indices_ = {device_, a.entries(), item};
    column_values_ = {device_, a.entries(), item};
    make_columns();
    if (device_->kind() == backend::cuda) cut_rows(offsets);
}

template <class T>
void csr_csc_pair<T>::cut_rows(std::span<const std::int32_t> offsets) {
    const std::vector<row_chunk> chunks = cut_long_words(offsets);
    if (chunks.empty()) return;
    chunks_ = {device_, std::span<const row_chunk>(chunks), item};
    chunk_sums_ = {device_, 32 * chunks.size(), item};
    chunk_marks_ = {device_, chunks.size(), item};
    chunks_arrived_ = {device_, chunks.size(), item};
    chunks_arrived_.zero();
}

template <class T>
row_chunks csr_csc_pair<T>::chunks() const noexcept {
    return {chunks_.data(), chunk_sums_.data(), chunk_marks_.data(), chunks_arrived_.data(),
            static_cast<std::int32_t>(chunks_.size())};
}

/// The transposition has offsets of 64 bits.
template <class T>
void csr_csc_pair<T>::make_columns() {
    const buffer<std::int64_t> of_rows(device_, row_offsets_.size(), item);
    const buffer<std::int64_t> of_columns(device_, column_offsets_.size(), item);
    copy_offsets(*device_, row_offsets_.data(), of_rows.data(), rows() + 1);
    const csr_pattern pattern{rows(), columns(), nonzeros(), of_rows.data(),
                              column_indices_.data()};
    const transposed_arrays<T> transposed{
        of_columns.data(), row_indices_.data(), row_values_.data(), column_values_.data(), {}};
    KRYLITH_ON(*device_, transpose_pattern(device_.get(), pattern, transposed));
    copy_offsets(*device_, of_columns.data(), column_offsets_.data(), columns() + 1);
}

template <class T>
void csr_csc_pair<T>::check_update() const {
    if (sorted_)
        throw usage_error("csr_csc_pair: update() needs rows whose columns ascend, or that were "
                          "kept as_given; these were sorted");
}

template <class T>
void csr_csc_pair<T>::update(std::span<const T> values) {
    check_update();
    if (values.size() != row_values_.size())
        throw usage_error("csr_csc_pair: update() was given " + std::to_string(values.size()) +
                          " values, must be " + std::to_string(row_values_.size()));
    row_values_.upload(values);
    make_columns();
}

template <class T>
void csr_csc_pair<T>::update_on_device(const T* values) {
    check_update();
    device_->copy(row_values_.data(), values, row_values_.size() * sizeof(T));
    make_columns();
}

template <class T>
compressed_view<T> csr_csc_pair<T>::by_rows() const noexcept {
    return {row_offsets_.data(),
            column_indices_.data(),
            row_values_.data(),
            static_cast<std::int32_t>(rows()),
            static_cast<std::int32_t>(columns()),
            static_cast<std::int32_t>(nonzeros())};
}

template <class T>
compressed_view<T> csr_csc_pair<T>::by_columns() const noexcept {
    return {column_offsets_.data(),
            row_indices_.data(),
            column_values_.data(),
            static_cast<std::int32_t>(columns()),
            static_cast<std::int32_t>(rows()),
            static_cast<std::int32_t>(nonzeros())};
}

#define KRYLITH_INSTANTIATE(T) template class csr_csc_pair<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::spmspv
