// What each device has of a result, for vectors of which each device has all.
#pragma once

#include <memory>
#include <span>

#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::detail {

/// Sends the rows that devices own to all others, as a product does.
template <class T>
class replicated_result {
public:
    /// `layout` is that of the replicated vectors; v, which outlives this, has owned parts of the
    /// same rows.
    replicated_result(layout_handle layout, const vector<T>& v);

    /// Enqueues z = v. `r` is any vector of z's layout but z, and is not read. Up to two dots are
    /// computed on the way.
    void give(execution& run, const vector<T>& r, vector<T>& z,
              std::span<const reduction_into<T>> dots);
    [[nodiscard]] bool recordable() const { return gather_->recordable(); }

private:
    std::unique_ptr<matrix_operator<T>> gather_;
};

} // namespace krylith::detail
