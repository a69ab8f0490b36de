// A matrix in host memory as preconditioners that are made there take it.
#pragma once

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/ordering/reordering.hpp>

namespace krylith::detail {

/// The matrix with rows and columns moved to `order`, unless that is null, and columns that ascend
/// strictly in each row: entries at one place add up. It is the caller's own where that is so.
/// Throws input_error as validate() does. Neither copied nor moved.
template <class T>
class canonical_matrix {
public:
    canonical_matrix(const csr_view<T>& given, const permutation* order);
    canonical_matrix(const canonical_matrix&) = delete;
    canonical_matrix& operator=(const canonical_matrix&) = delete;

    [[nodiscard]] const csr_view<T>& view() const { return view_; }

private:
    csr_matrix<T> own_;
    csr_view<T> view_;
};

} // namespace krylith::detail
