// Rows of a matrix on the devices, with global columns, as a simulation has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith::testing {

template <class T>
class device_parts {
public:
    device_parts(const device_group& group, const csr_matrix<T>& a, const row_partition& rows) {
        for (int rank = 0; rank < group.size(); ++rank) {
            const auto& device = group.handle(rank);
            const row_range owned = rows.owned(rank);
            const auto offsets = std::span(a.row_offsets)
                                     .subspan(static_cast<std::size_t>(owned.begin),
                                              static_cast<std::size_t>(owned.size()) + 1);
            const auto first = static_cast<std::size_t>(offsets.front());
            const auto count = static_cast<std::size_t>(offsets.back()) - first;
            offsets_.emplace_back(device, offsets, "parts");
            columns_.emplace_back(device, std::span(a.column_indices).subspan(first, count),
                                  "parts");
            values_.emplace_back(device, std::span(a.values).subspan(first, count), "parts");
            parts_.push_back({owned.size(), offsets_.back().data(), columns_.back().data(),
                              values_.back().data()});
        }
        group.synchronize();
    }
    [[nodiscard]] std::span<const csr_part<T>> parts() const { return parts_; }

private:
    std::vector<buffer<std::int64_t>> offsets_;
    std::vector<buffer<std::int32_t>> columns_;
    std::vector<buffer<T>> values_;
    std::vector<csr_part<T>> parts_;
};

} // namespace krylith::testing
