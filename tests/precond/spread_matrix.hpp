// A matrix of the host on the devices of a group.
#pragma once

#include <krylith/distributed/distributed_products.hpp>

namespace krylith::testing {

/// The matrix in equal ranges of rows, whose columns ascend.
template <class T>
[[nodiscard]] distributed_csr<T> spread_matrix(const device_group& group, const csr_matrix<T>& a) {
    const row_partition rows = equal_rows(a.rows, group.size());
    const distributed_csr<T> given(group, csr_view<T>(a), rows, rows);
    return sorted_rows<T>(given).apply(given);
}

} // namespace krylith::testing
