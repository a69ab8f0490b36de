// A matrix in host memory as preconditioners that are made there take it.
#pragma once

#include <string>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// The matrix in the order of a layout, with columns that ascend strictly in each row: entries at
/// one place add up. It is the caller's own where that is so; one that lies on devices is
/// downloaded. Neither copied nor moved.
template <class T>
class canonical_matrix {
public:
    /// Throws usage_error, which begins with `who`, where sizes differ, and input_error as
    /// validate() does.
    canonical_matrix(const std::string& who, const layout& layout, const matrix_ref<T>& given);
    canonical_matrix(const canonical_matrix&) = delete;
    canonical_matrix& operator=(const canonical_matrix&) = delete;

    [[nodiscard]] const csr_view<T>& view() const { return view_; }

private:
    csr_matrix<T> own_;
    csr_view<T> view_;
};

} // namespace krylith::detail
