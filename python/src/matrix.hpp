// A matrix in host memory, in arrays of NumPy's or of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/matrix/csr.hpp>

#include "arrays.hpp"
#include "interpreter_lock.hpp"

namespace krylith::python {

/// What an operator is made of, and what preconditioners read that need all of A. Values are those
/// of the caller's array as long as the entries are by rows; the pattern is copied unless it is
/// lent, so that nobody can change it.
template <class T>
class host_matrix {
public:
    explicit host_matrix(csr_matrix<T> matrix) : own_(std::move(matrix)), view_(own_) {}

    template <class Index>
    host_matrix(std::int64_t rows, std::int64_t columns, const host_array<const Index>& offsets,
                const host_array<const Index>& indices, host_array<const T> values, bool lend)
        : values_(std::move(values)), pattern_(nb::make_tuple(offsets, indices)) {
        const without_lock released;
        if (rows < 0 || offsets.size() != static_cast<std::size_t>(rows) + 1)
            throw input_error("CSR arrays: indptr has " + std::to_string(offsets.size()) +
                              " entries, allowed are rows + 1 = " + std::to_string(rows + 1));
        const auto nnz = static_cast<std::int64_t>(offsets.data()[rows]);
        const auto given = static_cast<std::int64_t>(std::min(indices.size(), values_.size()));
        if (nnz > given)
            throw input_error("CSR arrays: indptr ends with " + std::to_string(nnz) + ", but " +
                              std::to_string(given) + " indices and values were given");
        adapted_.emplace(adapt_csr(rows, columns, offsets.data(), indices.data(), values_.data()));
        view_ = adapted_->view();
        if (lend) return;
        if (static_cast<const void*>(view_.row_offsets.data()) == offsets.data()) {
            own_.row_offsets.assign(view_.row_offsets.begin(), view_.row_offsets.end());
            view_.row_offsets = own_.row_offsets;
        }
        if (static_cast<const void*>(view_.column_indices.data()) == indices.data()) {
            own_.column_indices.assign(view_.column_indices.begin(), view_.column_indices.end());
            view_.column_indices = own_.column_indices;
        }
    }

    /// Of coordinates in any order; those of the same place add up.
    template <class Index>
    host_matrix(std::int64_t rows, std::int64_t columns, const host_array<const Index>& row_indices,
                const host_array<const Index>& column_indices, const host_array<const T>& values)
        : assembly_(std::in_place, rows, columns, as_span(row_indices), as_span(column_indices)) {
        gather(values);
        view_ = assembly_->view<T>(own_.values);
    }

    host_matrix(const host_matrix&) = delete;
    host_matrix& operator=(const host_matrix&) = delete;
    ~host_matrix() = default;

    [[nodiscard]] const csr_view<T>& view() const { return view_; }

    /// Takes new values in the order in which the first were given.
    void update(const host_array<const T>& values) {
        if (assembly_) return gather(values);
        if (values.size() < static_cast<std::size_t>(view_.nnz()))
            throw usage_error("update: " + std::to_string(values.size()) + " values, allowed are " +
                              std::to_string(view_.nnz()));
        values_ = values;
        view_.values = as_span(values_).first(static_cast<std::size_t>(view_.nnz()));
    }
    void update(std::vector<T> values) {
        own_.values = std::move(values);
        view_.values = own_.values;
    }

private:
    void gather(const host_array<const T>& values) {
        own_.values.resize(static_cast<std::size_t>(assembly_->nnz()));
        assembly_->gather<T>(as_span(values), own_.values);
    }

    host_array<const T> values_;
    nb::object pattern_; ///< keeps the arrays that adapted_ refers to
    std::optional<coo_assembly> assembly_;
    csr_matrix<T> own_;
    std::optional<adapted_csr<T>> adapted_;
    csr_view<T> view_;
};

} // namespace krylith::python
